#include "algorithms/launch_policy.h"

#include "algorithms/algorithm.h"

/* NULL: none. */
static const ddp_algorithm *who_decides(const ddp_options *o)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if ((ddp_algorithms[i]->claims.controls & DDP_CONTROLS_ORDER)
            && ddp_algorithms[i]->is_on(o))
            return ddp_algorithms[i];
    return NULL;
}

ddp_launch_policy ddp_launch_policy_of(const ddp_options *o, int ranks, int on_gpus)
{
    const ddp_algorithm *decides = who_decides(o);
    ddp_launch_policy policy = {0};

    if (decides)
        policy.fixed = decides->order_subject;
    else if (o->on_nan > 0) /* nothing is updated before all has arrived */
        policy.fixed = "where steps may be skipped, what is sent";
    else if (!o->overlap)
        policy.fixed = "without overlap, what is sent";
    if (!policy.fixed && ranks > 1)
        policy.defer_bytes = (size_t)(ddp_options_defer_mb(o) * (1 << 20));
    if (!policy.fixed && on_gpus) /* the program cannot tell what has landed when backward ends */
        policy.fixed = "what GPUs send";
    policy.priority = !policy.fixed && ranks > 1 && o->priority == 1;
    return policy;
}
