#include "cli/autotune_options.h"

/* Each with why. */
static const char *what_excludes(const ddp_options *o)
{
    if (!o->overlap)
        return "-ddp_overlap 0, which leaves nothing to hide";
    if (o->shard_optimizer)
        return "-ddp_shard_optimizer 1: a rank's share of the optimizer's state follows the "
               "buckets";
    if (ddp_compress_choice_has_errors(&o->compress))
        return "-ddp_compress powersgd:R or topk:P, whose order of sums is fixed";
    if (o->local_sgd)
        return "-ddp_local_sgd, whose steps send no gradients";
    if (o->sync_every > 1)
        return "-ddp_sync_every K, whose steps are unlike each other";
    if (o->layer_drop > 0)
        return "-ddp_layer_drop, whose steps are unlike each other";
    if (o->on_nan > 0)
        return "-ddp_on_nan skip, for which all gradients are waited for before the first update";
    if (o->trace_run)
        return "-ddp_trace, which would show what is tried";
    return NULL;
}

ddp_status ddp_autotune_options_check(const ddp_options *o, int is_ddp_command, ddp_error *err)
{
    const char *excluded = what_excludes(o);

    if (!o->autotune)
        return DDP_OK;
    if (is_ddp_command)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_autotune is for training: `darknet ddp bench` measures what it is "
                        "told to");
    if (excluded)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_autotune 1 does not go with %s", excluded);
    return DDP_OK;
}
