#include "cli/local_options.h"

/* Each with why. */
static const char *what_excludes(const ddp_options *o)
{
    if (o->exact)
        return "-ddp_exact, whose result does not depend on the number of ranks";
    if (o->sync_bn)
        return "-ddp_sync_bn 1, for which ranks wait for each other in each layer";
    if (o->sync_every > 1)
        return "-ddp_sync_every K: ranks update after each batch, and average each H of them";
    if (o->batch == DDP_CHOICE_RANK)
        return "-ddp_batch rank, whose learning rate is that of all ranks' batches together";
    if (o->broadcast_buffers != DDP_CHOICE_STEP)
        return "-ddp_broadcast_buffers save: BatchNorm's statistics are averaged with the "
               "parameters";
    if (ddp_compress_choice_has_errors(&o->compress))
        return "-ddp_compress powersgd:R or topk:P: what ranks keep of gradients waits for the "
               "next sum";
    return NULL;
}

/* NULL: none. */
static const char *what_is_alone(const ddp_options *o)
{
    if (o->local_warmup >= 0)
        return "-ddp_local_warmup";
    return o->slowmo >= 0 ? "-ddp_slowmo" : NULL;
}

ddp_status ddp_local_options_check(const ddp_options *o, int is_ddp_command, ddp_error *err)
{
    const char *excluded = what_excludes(o), *alone = what_is_alone(o);

    if (o->slowmo < 0 && o->slowmo_rate != 1)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_slowmo_rate is of -ddp_slowmo, and needs it");
    if (!o->local_sgd && alone)
        return ddp_fail(err, DDP_ERR_USAGE, "%s is of -ddp_local_sgd H, and needs it", alone);
    if (!o->local_sgd)
        return DDP_OK;
    if (is_ddp_command)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_local_sgd is for training: `darknet ddp` knows only steps in which "
                        "ranks sum gradients");
    if (excluded)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_local_sgd does not go with %s", excluded);
    return DDP_OK;
}

ddp_local_sgd_config ddp_local_options_config(const ddp_options *o)
{
    return (ddp_local_sgd_config){.period = o->local_sgd,
                                  .warmup = o->local_warmup,
                                  .slow_momentum = o->slowmo,
                                  .slow_rate = o->slowmo_rate};
}
