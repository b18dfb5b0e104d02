/* algorithms/launch_policy.h: decides in which order the sums of gradient buckets start. The usual
 * order is that of the bucket plan, last layers first. Instead, some sums may start last, since
 * their layers' updates are deferred to the next forward pass. Others may start by priority, first
 * layers first (core/launch_order.h). */
#ifndef DDP_ALGORITHMS_LAUNCH_POLICY_H
#define DDP_ALGORITHMS_LAUNCH_POLICY_H

#include "options/options.h"

typedef struct ddp_launch_policy {
    size_t defer_bytes; /* most bytes of all deferred buckets (ddp_reducer_config.defer_bytes) */
    int priority;       /* 1: some sums start by priority (ddp_reducer_config.priority) */
    /* why no sum can start by priority: the subject of the sentence "... goes in an order that is
     * fixed", such as "what GPUs send"; a static string. NULL: with several ranks, sums can */
    const char *fixed;
} ddp_launch_policy;

/* Return the policy of a run with these options on `ranks` ranks.
 *   on_gpus   1: the ranks compute on GPUs, so no sum starts by priority
 * Sums start in the usual order if ranks is 1, without -ddp_overlap, with -ddp_on_nan skip, or if
 * an algorithm controls the order. */
ddp_launch_policy ddp_launch_policy_of(const ddp_options *o, int ranks, int on_gpus);

#endif
