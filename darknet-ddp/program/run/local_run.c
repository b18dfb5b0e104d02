#include "run/local_run.h"

#include "base/text.h"

static void print_period(FILE *out, int steps)
{
    if (steps == 1)
        (void)fputs(" every step", out);
    else
        (void)fprintf(out, " every %d steps", steps);
}

static void print_slow_momentum(FILE *out, const ddp_options *o)
{
    (void)fprintf(out, "slow momentum %g and slow rate %g", o->slowmo, o->slowmo_rate);
}

static void print_averaging(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    (void)fprintf(out, "ranks learn on their own and average %.1f MB",
                  (double)ddp_trainer_average_bytes(t) / 1e6);
    print_period(out, o->local_sgd);
    if (o->slowmo >= 0) {
        (void)fputs(", with ", out);
        print_slow_momentum(out, o);
    }
}

/* Who is alone is its own average, which slow momentum smooths all the same. */
static void print_alone(FILE *out, const ddp_options *o)
{
    (void)fputs("there is one rank, so nothing is averaged", out);
    if (o->slowmo >= 0) {
        (void)fputs("; ", out);
        print_slow_momentum(out, o);
        (void)fputs(" work", out);
        print_period(out, o->local_sgd);
    }
}

void ddp_local_run_print(FILE *out, const ddp_options *o, const ddp_group *group,
                         const ddp_trainer *t)
{
    int warmup = ddp_trainer_warmup(t), alone = ddp_group_size(group) == 1;

    if (!o->local_sgd)
        return;
    (void)fprintf(out, "DDP: local SGD: ");
    if (warmup > 0 && !alone)
        (void)fprintf(out, "after %d step%s ", warmup, ddp_plural((size_t)warmup));
    if (alone)
        print_alone(out, o);
    else
        print_averaging(out, o, t);
    (void)fputs("\n", out);
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
