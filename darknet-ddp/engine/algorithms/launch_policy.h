/* algorithms/launch_policy.h: which sums of a run start out of the plan's order
 * (core/launch_order.h): some buckets may be deferred, or go by priority. This is the one place
 * that decides it. The order of addition is another thing (comm/work.h). */
#ifndef DDP_ALGORITHMS_LAUNCH_POLICY_H
#define DDP_ALGORITHMS_LAUNCH_POLICY_H

#include "options/options.h"

typedef struct ddp_launch_policy {
    size_t defer_bytes; /* ddp_reducer_config.defer_bytes: travel during the next forward pass */
    int priority;       /* ddp_reducer_config.priority: first layers go first */
    const char *fixed; /* why there is no priority, the subject of a sentence; NULL: there may be */
} ddp_launch_policy;

/* Return the policy of a run with these options on so many ranks. on_gpus: they compute on GPUs.
 * Without overlap, where steps may be dropped, and with an algorithm that controls the order, sums
 * start in the plan's order. */
ddp_launch_policy ddp_launch_policy_of(const ddp_options *o, int ranks, int on_gpus);

#endif
