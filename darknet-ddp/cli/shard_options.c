#include "cli/shard_options.h"

/* Each with why. */
static const char *what_excludes(const ddp_options *o)
{
    if (o->local_sgd)
        return "-ddp_local_sgd, whose ranks update all parameters, each with momentum of its own";
    if (ddp_compress_choice_has_errors(&o->compress))
        return "-ddp_compress powersgd or topk: no rank has the sum of a share alone";
    if (o->on_nan > 0)
        return "-ddp_on_nan skip, which drops a step before anything is updated: here a rank knows "
               "of other shares only when they have been";
    return NULL;
}

ddp_status ddp_shard_options_check(const ddp_options *o, ddp_error *err)
{
    const char *excluded = o->shard_optimizer ? what_excludes(o) : NULL;

    if (!excluded)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "-ddp_shard_optimizer 1 does not go with %s", excluded);
}
