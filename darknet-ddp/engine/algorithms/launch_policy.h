/* algorithms/launch_policy.h: which sums of a run start out of the plan's order
 * (core/launch_order.h): some buckets may be deferred, or go by priority. This is the one place
 * that decides it. The order of addition is another thing (comm/work.h). */
#ifndef DDP_ALGORITHMS_LAUNCH_POLICY_H
#define DDP_ALGORITHMS_LAUNCH_POLICY_H

#include "options/options.h"

typedef struct ddp_launch_policy {
    size_t defer_bytes; /* bytes of the buckets that travel during the next forward pass
                           (ddp_reducer_config.defer_bytes) */
    int priority;       /* 1: first layers go first (ddp_reducer_config.priority) */
    /* subject of the sentence "... goes in an order that is fixed", which says why priority is 0:
     * "what GPUs send"; static. NULL: there is no such reason */
    const char *fixed;
} ddp_launch_policy;

/* Return the policy of a run with these options on `ranks` ranks. on_gpus: 1 if they compute on
 * GPUs. All sums start in the plan's order on one rank, without overlap, with -ddp_on_nan skip, or
 * with an algorithm that controls the order. On GPUs some may be deferred, and none goes by
 * priority. */
ddp_launch_policy ddp_launch_policy_of(const ddp_options *o, int ranks, int on_gpus);

#endif
