/* The algorithm of -ddp_local_sgd: after a warm-up each rank updates with its own gradients, and
 * every few steps ranks average their parameters. averaging.h says what else is averaged, and why.
 * The loss is summed over ranks in every step all the same: a few bytes, which also tell all ranks
 * of a signal in the same step. */
#include "algorithms/local_sgd/averaging.h"

#include "algorithms/algorithm.h"
#include "base/plural.h"
#include "comm/group_schedule.h"
#include "options/options.h"

#include <stdlib.h>

struct local_sgd {
    ddp_group *group;
    ddp_local_sgd_config config;
    ddp_local_sgd *averaging; /* while attached */
    ddp_state *state;
    size_t slow;         /* an array of state, with slow momentum */
    float **slow_arrays; /* of each of the table's parameters, while attached */
};

/* ---- what is asked for ---- */

static int is_on(const ddp_options *o)
{
    return o->local_sgd > 0;
}

/* Refuse the options that mean nothing without -ddp_local_sgd or -ddp_slowmo. */
static ddp_status check(const ddp_options *o, ddp_error *err)
{
    const char *alone = o->local_warmup >= 0 ? "-ddp_local_warmup" : "-ddp_slowmo";

    if (o->slowmo < 0 && o->slowmo_rate != 1)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_slowmo_rate is of -ddp_slowmo, and needs it");
    if (!o->local_sgd && (o->local_warmup >= 0 || o->slowmo >= 0))
        return ddp_fail(err, DDP_ERR_USAGE, "%s is of -ddp_local_sgd H, and needs it", alone);
    return DDP_OK;
}

static ddp_local_sgd_config config_of(const ddp_algorithm_of *of)
{
    const ddp_options *o = of->options;
    int burn_in = of->network.burn_in > 0 ? of->network.burn_in : 0;

    return (ddp_local_sgd_config){.period = o->local_sgd,
                                  .warmup = o->local_warmup < 0 ? burn_in : o->local_warmup,
                                  .last_step = of->network.max_batches,
                                  .slow_momentum = o->slowmo,
                                  .slow_rate = o->slowmo_rate};
}

static ddp_status check_run(const ddp_algorithm_of *of, ddp_error *err)
{
    ddp_local_sgd_config config = config_of(of);

    /* averages of weights are made, read and saved at steps of their own */
    if (of->network.ema_alpha != 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "ema_alpha=%g averages the weights of all ranks at steps where those of "
                        "local SGD differ: set it to 0, or leave out local SGD",
                        of->network.ema_alpha);
    if (config.slow_momentum >= 0 && config.warmup < of->network.burn_in)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "slow momentum divides by the learning rate, which burn_in=%d has begin "
                        "next to 0: a warm-up of %d steps is too short, %d are enough",
                        of->network.burn_in, config.warmup, of->network.burn_in);
    return DDP_OK;
}

/* ---- opening ---- */

/* Declare slow momentum of every parameter, trained or not. */
static ddp_status declare_slow_momentum(struct local_sgd *l, const ddp_param_table *table,
                                        ddp_error *err)
{
    static const ddp_state_spec spec = {
        .name = "slow momentum", .kind = DDP_STATE_SAME, .is_moment = 1};
    size_t *counts = calloc(table->param_count + 1, sizeof *counts);
    ddp_status st;

    if (!counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for slow momentum");
    for (size_t i = 0; i < table->param_count; i++)
        counts[i] = table->params[i].count;
    st = ddp_state_add_set(l->state, &spec, counts, &l->slow, err);
    free(counts);
    return st;
}

static ddp_status open_local_sgd(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    struct local_sgd *l = calloc(1, sizeof *l);

    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for local SGD");
    l->group = of->group;
    l->config = config_of(of);
    l->state = of->state;
    if (l->config.slow_momentum >= 0 && declare_slow_momentum(l, of->table, err)) {
        free(l);
        return err->code;
    }
    *self = l;
    return DDP_OK;
}

static ddp_status find_slow_momentum(struct local_sgd *l, const ddp_param_table *table,
                                     ddp_error *err)
{
    if (l->config.slow_momentum < 0)
        return DDP_OK;
    l->slow_arrays = calloc(table->param_count + 1, sizeof *l->slow_arrays);
    if (!l->slow_arrays)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for slow momentum");
    for (size_t i = 0; i < table->param_count; i++)
        l->slow_arrays[i] = ddp_state_on_device(l->state, l->slow, i);
    return DDP_OK;
}

static ddp_status attach(void *self, const ddp_attached *a, ddp_error *err)
{
    struct local_sgd *l = self;

    if (find_slow_momentum(l, a->table, err)
        || ddp_local_sgd_open(&l->averaging, l->group, a->table, &l->config, l->slow_arrays, err)) {
        free(l->slow_arrays);
        l->slow_arrays = NULL;
        return err->code;
    }
    return DDP_OK;
}

static void detach(void *self)
{
    struct local_sgd *l = self;

    ddp_local_sgd_close(l->averaging);
    free(l->slow_arrays);
    l->averaging = NULL;
    l->slow_arrays = NULL;
}

/* ---- a step ---- */

static int syncs_gradients(const void *self, size_t step)
{
    const struct local_sgd *l = self;

    return !ddp_local_sgd_is_local_step(l->averaging, step);
}

static int is_sync_due(const void *self, size_t step)
{
    const struct local_sgd *l = self;

    return ddp_local_sgd_ends_period(l->averaging, step);
}

static double begin_update(void *self, double rate)
{
    struct local_sgd *l = self;

    ddp_local_sgd_begin_update(l->averaging, rate);
    return ddp_group_size(l->group);
}

static void note_layer(void *self, int layer)
{
    struct local_sgd *l = self;

    ddp_local_sgd_note_layer(l->averaging, layer);
}

static int in_sync(const void *self)
{
    const struct local_sgd *l = self;

    return ddp_local_sgd_in_sync(l->averaging);
}

static size_t steps_to_sync(const void *self)
{
    const struct local_sgd *l = self;

    return (size_t)l->config.period;
}

static ddp_status sync(void *self, ddp_error *err)
{
    struct local_sgd *l = self;

    return ddp_local_sgd_average_ranks(l->averaging, err);
}

/* ---- words ---- */

static void print_period(FILE *out, int steps)
{
    if (steps == 1)
        (void)fputs(" every step", out);
    else
        (void)fprintf(out, " every %d steps", steps);
}

static void print_slow_momentum(FILE *out, const ddp_local_sgd_config *config)
{
    (void)fprintf(out, "slow momentum %g and slow rate %g", config->slow_momentum,
                  config->slow_rate);
}

static void print_averaging(FILE *out, const struct local_sgd *l)
{
    (void)fprintf(out, "ranks learn on their own and average %.1f MB",
                  (double)ddp_local_sgd_bytes(l->averaging) / 1e6);
    print_period(out, l->config.period);
    if (l->config.slow_momentum >= 0) {
        (void)fputs(", with ", out);
        print_slow_momentum(out, &l->config);
    }
}

/* Who is alone is its own average, which slow momentum smooths all the same. */
static void print_alone(FILE *out, const struct local_sgd *l)
{
    (void)fputs("there is one rank, so nothing is averaged", out);
    if (l->config.slow_momentum >= 0) {
        (void)fputs("; ", out);
        print_slow_momentum(out, &l->config);
        (void)fputs(" work", out);
        print_period(out, l->config.period);
    }
}

static void print_local_sgd(const void *self, FILE *out)
{
    const struct local_sgd *l = self;
    int warmup = l->config.warmup, alone = ddp_group_size(l->group) == 1;

    (void)fprintf(out, "DDP: local SGD: ");
    if (warmup > 0 && !alone)
        (void)fprintf(out, "after %d step%s ", warmup, ddp_plural((size_t)warmup));
    if (alone)
        print_alone(out, l);
    else
        print_averaging(out, l);
    (void)fputs("\n", out);
}

static void print_end(const void *self, FILE *out, size_t steps)
{
    const struct local_sgd *l = self;
    ddp_traffic sent = ddp_group_traffic(l->group);

    if (steps == 0 || sent.bytes == 0 || !ddp_group_schedule(l->group))
        return;
    (void)fprintf(out, "DDP: local SGD: rank 0 sent %.3f MB in %zu step%s, %.4f MB a step\n",
                  (double)sent.bytes / 1e6, steps, ddp_plural(steps),
                  (double)sent.bytes / 1e6 / (double)steps);
}

static const ddp_step_plug step = {.syncs_gradients = syncs_gradients,
                                   .is_sync_due = is_sync_due,
                                   .begin_update = begin_update,
                                   .note_layer = note_layer,
                                   .in_sync = in_sync,
                                   .steps_to_sync = steps_to_sync,
                                   .sync = sync};

const ddp_algorithm ddp_algorithm_local_sgd = {
    .example = "-ddp_local_sgd 2",
    .claims = {.controls = DDP_CONTROLS_UPDATE | DDP_CONTROLS_STEPS | DDP_CONTROLS_STATISTICS,
               .breaks = DDP_GUARANTEE_EXACT | DDP_GUARANTEE_SUMS | DDP_GUARANTEE_PLAIN},
    .is_on = is_on,
    .check = check,
    .check_run = check_run,
    .open = open_local_sgd,
    .attach = attach,
    .detach = detach,
    .close = free,
    .step = &step,
    .print = print_local_sgd,
    .print_end = print_end,
};
