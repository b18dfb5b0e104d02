/* glue/param_table.h: makes the table of a Darknet network's parameters (core/params.h), by which
 * the engine sums gradients without knowing Darknet.
 *
 * The table lists the layers inside a recurrent layer as parts of it. A layer that shares another's
 * weights has no parameters of its own. Layers up to the last one with stopbackward=1 count as
 * frozen (first_trained). Layers that stopbackward=N freezes until batch N do not. */
#ifndef DDP_GLUE_PARAM_TABLE_H
#define DDP_GLUE_PARAM_TABLE_H

#include "base/status.h"
#include "core/params.h"
#include "glue/network.h"

#include <stdint.h>

/* Set *table to a list of net's parameters and BatchNorm buffers on `device`: the host, or the GPU
 * that net trains on. The table points into net, and must not outlive it. The caller releases it.
 * Fails, with *table all zero, with DDP_ERR_USAGE (a layer that is updated is of an unknown type),
 * DDP_ERR_NOMEM. */
ddp_status ddp_param_table_init(ddp_param_table *table, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy net's parameters, BatchNorm buffers and optimizer state from GPU `device`, on which net
 * trains, to the host. Moments of which each rank has a share (core/sharded.h) are left out. If
 * `device` is the host, do nothing. `host`: table of net on the host. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_pull(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;
/* Copy from the host to GPU `device` what ddp_param_table_pull copies to the host. If `device` is
 * the host, do nothing. `host`: table of net on the host. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_push(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return a hash (XXH3) of all parameters and BatchNorm buffers of a table in host memory. */
uint64_t ddp_param_table_hash(const ddp_param_table *table);

/* Free the table's lists, but not the arrays that they point to, and make *table all zero. */
void ddp_param_table_release(ddp_param_table *table);

/* Fail with DDP_ERR_FORMAT if a parameter or BatchNorm buffer has a number that is not finite; the
 * error names the array. The table may be one of a GPU. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_check_finite(const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

#endif
