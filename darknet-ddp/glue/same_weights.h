/* glue/same_weights.h: have all ranks loaded the same weights? Rank 0's are what is trained. */
#ifndef DDP_GLUE_SAME_WEIGHTS_H
#define DDP_GLUE_SAME_WEIGHTS_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"

/* *odd, on all ranks: the lowest rank whose parameters, BatchNorm statistics or count of images
 * seen are not rank 0's, or 0. net is as parsed and loaded. Blocks.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_find_other_weights(ddp_group *group, network *net, int *odd,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
