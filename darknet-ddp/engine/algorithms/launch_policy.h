/* algorithms/launch_policy.h: whether options may change the launch order of sums: defer some
 * buckets, or give some priority. The order of addition is another thing (comm/work.h). A pure
 * function. */
#ifndef DDP_ALGORITHMS_LAUNCH_POLICY_H
#define DDP_ALGORITHMS_LAUNCH_POLICY_H

#include "options/options.h"

typedef struct ddp_launch_policy {
    int defers;        /* some buckets may travel during the next forward pass (-ddp_defer_mb) */
    int prioritises;   /* first layers may go first (-ddp_priority) */
    const char *fixed; /* what goes in an order that is fixed, for a sentence; NULL: see above */
} ddp_launch_policy;

/* Of a run with these options on so many ranks, which compute on GPUs or on CPUs. */
ddp_launch_policy ddp_launch_policy_of(const ddp_options *o, int ranks, int on_gpus);

#endif
