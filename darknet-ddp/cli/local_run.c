#include "cli/local_run.h"

#include "base/text.h"

void ddp_local_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
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

void ddp_local_run_print_sent(FILE *out, const ddp_options *o, const ddp_group *group, size_t steps)
{
    ddp_traffic sent = ddp_group_traffic(group);

    if (!o->local_sgd || steps == 0 || sent.bytes == 0 || !ddp_group_has_schedule(group))
        return;
    (void)fprintf(out, "DDP: local SGD: rank 0 sent %.3f MB in %zu step%s, %.4f MB a step\n",
                  (double)sent.bytes / 1e6, steps, ddp_plural(steps),
                  (double)sent.bytes / 1e6 / (double)steps);
}
