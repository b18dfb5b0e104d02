/* glue/param_table.h: makes the table of a Darknet network's parameters (core/params.h), by which
 * the engine sums gradients without knowing Darknet. */
#ifndef DDP_GLUE_PARAM_TABLE_H
#define DDP_GLUE_PARAM_TABLE_H

#include "base/status.h"
#include "core/params.h"
#include "glue/network.h"

#include <stdint.h>

/* Set *table to a list of net's parameters and BatchNorm buffers. Their arrays are those on
 * `device`: the host, or the GPU that net trains on. The table points into net, and must not
 * outlive it. Release it with ddp_param_table_release; on failure it is empty. Fails with
 * DDP_ERR_USAGE (an updated layer's type is unknown), DDP_ERR_NOMEM.
 *
 * The layers inside a recurrent layer are listed as parts of it. A layer that shares another's
 * weights has none of its own. Layers up to the last one with stopbackward=1 are frozen
 * (ddp_param_table.first_trained); those that stopbackward=N freezes until batch N are not. */
ddp_status ddp_param_table_init(ddp_param_table *table, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy net's parameters, BatchNorm buffers and optimizer state from the GPU `device`, on which net
 * trains, to the host. `host` lists net's arrays on the host. Does nothing if `device` is the host.
 * Moments that are shared out (core/sharded.h) are not copied. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_pull(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;
/* Copy from the host to the GPU all that ddp_param_table_pull copies the other way. */
ddp_status ddp_param_table_push(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return a hash (XXH3) of all parameters and BatchNorm buffers; the table must be of the host. */
uint64_t ddp_param_table_hash(const ddp_param_table *table);

/* Free the table's lists, not the arrays that they point to, and make it all zero. */
void ddp_param_table_release(ddp_param_table *table);

/* Fail with DDP_ERR_FORMAT, and name the array, if a parameter or BatchNorm buffer has a number
 * that is not finite. The table may be of a GPU. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_check_finite(const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

#endif
