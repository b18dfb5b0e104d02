/* glue/table.h: a Darknet network as core's parameter table. */
#ifndef DDP_GLUE_TABLE_H
#define DDP_GLUE_TABLE_H

#include "base/status.h"
#include "core/params.h"

#include <darknet.h>

/* List the parameters and BatchNorm buffers of net, by layer type: what a pointer
 * in struct layer means depends on the type (the biases of a yolo layer are
 * anchors). The layers of a recurrent layer count as parts of it. Layers up to
 * the last one with stopbackward=1 are frozen (ddp_table.first_trained).
 * The table points into net and must not outlive it; release it with
 * ddp_table_release. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_table_init(ddp_table *table, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Free the lists, not what they point to. */
void ddp_table_release(ddp_table *table);

#endif
