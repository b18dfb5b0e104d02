#include "cli/local_options.h"

#include "base/text.h"

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

ddp_status ddp_local_options_check_device(const ddp_options *o, const ddp_group *group,
                                          ddp_error *err)
{
    if (!o->local_sgd || ddp_device_is_host(ddp_group_device(group)))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_local_sgd works on CPUs: leave it out, or compute there with -nogpu");
}

ddp_local_sgd_config ddp_local_options_config(const ddp_options *o)
{
    return (ddp_local_sgd_config){.period = o->local_sgd,
                                  .warmup = o->local_warmup,
                                  .slow_momentum = o->slowmo,
                                  .slow_rate = o->slowmo_rate};
}

void ddp_local_options_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    int warmup = ddp_trainer_warmup(t);

    if (!o->local_sgd)
        return;
    (void)fprintf(out, "DDP: local SGD: ");
    if (warmup > 0)
        (void)fprintf(out, "after %d step%s ", warmup, ddp_plural((size_t)warmup));
    (void)fprintf(out, "ranks learn on their own and average %.1f MB each %d step%s",
                  (double)ddp_trainer_average_bytes(t) / 1e6, o->local_sgd,
                  ddp_plural((size_t)o->local_sgd));
    if (o->slowmo >= 0)
        (void)fprintf(out, ", with slow momentum %g and slow rate %g", o->slowmo, o->slowmo_rate);
    (void)fprintf(out, "\n");
}

void ddp_local_options_print_sent(FILE *out, const ddp_options *o, const ddp_group *group,
                                  size_t steps)
{
    ddp_traffic sent = ddp_group_traffic(group);

    if (!o->local_sgd || steps == 0 || sent.bytes == 0)
        return;
    (void)fprintf(out, "DDP: local SGD: rank 0 sent %.3f MB in %zu step%s, %.4f MB a step\n",
                  (double)sent.bytes / 1e6, steps, ddp_plural(steps),
                  (double)sent.bytes / 1e6 / (double)steps);
}
