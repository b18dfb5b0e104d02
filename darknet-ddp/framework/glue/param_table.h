/* glue/param_table.h: makes core's parameter table (core/params.h) from a Darknet network. */
#ifndef DDP_GLUE_PARAM_TABLE_H
#define DDP_GLUE_PARAM_TABLE_H

#include "base/status.h"
#include "core/params.h"
#include "glue/network.h"

#include <stdint.h>

/* List the parameters and BatchNorm buffers of net in *table, with their arrays on `device`: the
 * host, or the GPU that net trains on. The lists go by layer type, since the type decides what a
 * pointer in struct layer means (the biases of a yolo layer are anchors). The layers inside a
 * recurrent layer count as parts of it. Layers up to the last one with stopbackward=1 are frozen
 * (ddp_param_table.first_trained); layers that stopbackward=N freezes until batch N are not. Layers
 * that share another's weights have none of their own. The table points into net and must not
 * outlive it; release it with ddp_param_table_release. On failure *table is empty. Fails with
 * DDP_ERR_USAGE if a layer of an unknown type is updated, and with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_init(ddp_param_table *table, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy net's values, BatchNorm buffers and optimizer state between the GPU's arrays and Darknet's
 * arrays on the host: pull from the GPU, push to it. Moments that are shared out (core/sharded.h)
 * are not copied. The table `host` lists net's arrays on the host. If `device`, on which net
 * trains, is the host, nothing happens. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_pull(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_param_table_push(const ddp_param_table *host, network *net, ddp_device *device,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return a hash (XXH3) of every parameter and BatchNorm buffer of a table on the host. */
uint64_t ddp_param_table_hash(const ddp_param_table *table);

/* Free the table's lists, not the arrays that they point to, and make it all zero. */
void ddp_param_table_release(ddp_param_table *table);

/* Fail with DDP_ERR_FORMAT if a parameter or BatchNorm buffer has a number that is not finite; the
 * text names the first such array. The table may be of a GPU. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_param_table_check_finite(const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

#endif
