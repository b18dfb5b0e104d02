/* ddp-test: quick */
/* Tests of local SGD against its definition: networks that Darknet alone trains, one after the
 * other, each on its share of every batch, with parameters that the test averages. Ranks are
 * threads, each with a network of its own. */
#include "trainer/trainer.h"

#include "algorithms/local_sgd/averaging.h"
#include "comm/group_schedule.h"
#include "glue/param_table.h"
#include "options/options.h"
#include "timing/synthetic.h"
#include "unit/ranks.h"

#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "glue/net.h"

enum { RANKS = 4, BATCH = 24, IMAGES = 2, LAST_STEP = 7, CONNECTED_LAYER = 2 };

static const char body[] =
    "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    "[avgpool]\n[connected]\noutput=5\n[softmax]\n";

/* A run: its networks, and how they are trained. */
struct run {
    network *nets[RANKS];
    int ranks;
    const char *schedule; /* lines of [net] */
    ddp_local_sgd_config local;
    size_t defer_bytes;
    ddp_schedule sums;
    int verify_every;
    int leaves_warmup_out; /* to the cfg's burn_in */
    int poisoned; /* the step in which one of rank 1's gradients is no number, but its loss is */
    int dropped[RANKS];
    ddp_options options; /* that ask for `local` */
};

/* Mini-batches of IMAGES, of `batch` images a step. */
static network *parse(const struct run *run, int batch)
{
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "[net]\nbatch=%d\nsubdivisions=%d\nwidth=8\nheight=8\nchannels=3\n"
                   "learning_rate=0.05\nmomentum=0.9\ndecay=0.01\nmax_batches=%d\n%s%s",
                   batch, batch / IMAGES, LAST_STEP, run->schedule, body);
    srand(1); /* the same first weights in each */
    return net_parse(text);
}

/* ---- the definition ---- */

static void train_part(network *net, int step, int rank, int ranks)
{
    int share = BATCH / ranks;

    for (int i = 0; i < share; i += IMAGES) {
        ddp_synthetic_fill(net, (uint64_t)step, (uint64_t)(rank * share + i));
        (void)train_network_datum(net);
    }
}

static float mean_of(const float *const *x, size_t i, int ranks)
{
    double sum = (double)(x[0][i] + x[1][i]);

    if (ranks == 3)
        sum = (double)((float)sum + x[2][i]);
    if (ranks == 4)
        sum = (double)((float)sum + (x[2][i] + x[3][i]));
    return (float)(sum / ranks);
}

/* x[r]: of each rank. */
static void average_array(float *const *x, size_t count, int ranks)
{
    for (size_t i = 0; i < count; i++) {
        float mean = mean_of((const float *const *)x, i, ranks);

        for (int r = 0; r < ranks; r++)
            x[r][i] = mean;
    }
}

static void average_all(const ddp_param_table *tables, int ranks)
{
    float *x[RANKS];

    for (size_t p = 0; p < tables[0].param_count; p++) {
        for (int r = 0; r < ranks; r++)
            x[r] = tables[r].params[p].value;
        average_array(x, tables[0].params[p].count, ranks);
        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && tables[0].params[p].optimizer.buffer[k]; k++) {
            for (int r = 0; r < ranks; r++)
                x[r] = tables[r].params[p].optimizer.buffer[k];
            average_array(x, tables[0].params[p].count, ranks);
        }
    }
    for (size_t b = 0; b < tables[0].buffer_count; b++) {
        for (int r = 0; r < ranks; r++)
            x[r] = *tables[r].buffers[b].slot;
        average_array(x, tables[0].buffers[b].count, ranks);
    }
}

/* Wang et al. 2020, algorithm 1, lines 7 and 8, in double. */
struct slow {
    double *began, *u;
};

static size_t elements(const ddp_param_table *table)
{
    size_t count = 0;

    for (size_t p = 0; p < table->param_count; p++)
        count += table->params[p].count;
    return count;
}

static void remember(const struct slow *slow, const ddp_param_table *table)
{
    size_t at = 0;

    for (size_t p = 0; p < table->param_count; p++)
        for (size_t i = 0; i < table->params[p].count; i++)
            slow->began[at++] = (double)table->params[p].value[i];
}

static void step_slowly(const struct slow *slow, const struct run *run,
                        const ddp_param_table *tables, double rate)
{
    size_t at = 0;

    for (size_t p = 0; p < tables[0].param_count; p++)
        for (size_t i = 0; i < tables[0].params[p].count; i++, at++) {
            double mean = (double)tables[0].params[p].value[i];

            slow->u[at] = run->local.slow_momentum * slow->u[at] + (slow->began[at] - mean) / rate;
            for (int r = 0; r < run->ranks; r++)
                tables[r].params[p].value[i] =
                    (float)(slow->began[at] - run->local.slow_rate * rate * slow->u[at]);
        }
}

/* nets[0] becomes what every rank should have in the end. */
static void define(const struct run *run, network **nets)
{
    ddp_param_table tables[RANKS];
    struct slow slow;
    double rates = 0;
    int steps = 0;
    ddp_error err;

    for (int r = 0; r < run->ranks; r++) {
        nets[r] = parse(run, BATCH / run->ranks);
        nets[r]->eps /= (float)run->ranks; /* Adam's moments are of sums over all ranks' images */
        assert_int_equal(ddp_param_table_init(&tables[r], nets[r], ddp_device_host(), &err),
                         DDP_OK);
    }
    slow.began = calloc(elements(&tables[0]), sizeof *slow.began);
    slow.u = calloc(elements(&tables[0]), sizeof *slow.u);
    assert_non_null(slow.began);
    assert_non_null(slow.u);
    remember(&slow, &tables[0]);
    for (int step = 1; step <= LAST_STEP; step++) {
        for (int r = 0; r < run->ranks; r++)
            train_part(nets[r], step, r, run->ranks);
        rates += (double)nets[0]->update.learning_rate;
        steps++;
        if (step % run->local.period != 0 && step != LAST_STEP)
            continue;
        average_all(tables, run->ranks);
        if (run->local.slow_momentum >= 0 && rates > 0)
            step_slowly(&slow, run, tables, rates / steps);
        remember(&slow, &tables[0]);
        rates = steps = 0;
    }
    free(slow.began);
    free(slow.u);
    for (int r = 0; r < run->ranks; r++)
        ddp_param_table_release(&tables[r]);
}

/* ---- ranks ---- */

static _Thread_local int *dropped;

static void note_dropped(const ddp_not_finite *what)
{
    (void)what;
    ++*dropped;
}

static ddp_trainer *attach(struct rank *me)
{
    struct run *run = me->shared;
    ddp_trainer_config config = {
        .reducer = {.bucket_bytes = 1,
                    .first_bucket_bytes = 1,
                    .defer_bytes = run->defer_bytes,
                    .overlap = 1,
                    .find_unused = 1},
        .broadcast_buffers = 1,
        .sync_every = 1,
        .options = &run->options,
        .verify_every = run->verify_every,
        .guard = {.skip_most = run->poisoned ? 1 : 0, .skipped = note_dropped},
        .fail = net_fail_hook,
    };
    int batch = BATCH, subdivisions = BATCH / IMAGES;
    ddp_trainer *t;
    ddp_error err;

    dropped = &run->dropped[me->rank];
    rank_expect_ok(me, ddp_group_use_schedule(me->group, run->sums, &err), &err);
    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, run->nets[me->rank], &err), &err);
    return t;
}

static void train(struct rank *me)
{
    struct run *run = me->shared;
    network *net = run->nets[me->rank];
    ddp_trainer *t = attach(me);

    for (int step = 1; step <= LAST_STEP; step++) {
        int own = run->local.period > 0 && step > run->local.warmup;
        int ends =
            own && ((step - run->local.warmup) % run->local.period == 0 || step == LAST_STEP);

        if (step == run->poisoned && me->rank == 1)
            net->layers[CONNECTED_LAYER].weight_updates[3] = NAN;
        train_part(net, step, me->rank, me->size);
        (void)train_mean_loss(net, 1);
        if (step != run->poisoned && ddp_trainer_in_sync(t) != (!own || ends))
            rank_wrong(me, "after step %d ranks %s alike", step, ends ? "are not" : "are");
    }
    ddp_trainer_close(t);
}

static void ask(struct run *run)
{
    run->options = (ddp_options){.local_sgd = run->local.period,
                                 .local_warmup = run->leaves_warmup_out ? -1 : run->local.warmup,
                                 .slowmo = run->local.slow_momentum,
                                 .slowmo_rate = run->local.slow_rate};
}

static void run_ranks(struct run *run)
{
    ask(run);
    for (int r = 0; r < run->ranks; r++)
        run->nets[r] = parse(run, BATCH);
    ranks_run(run->ranks, train, run);
}

static void free_all(network **nets, int count)
{
    for (int r = 0; r < count; r++)
        free_network(nets[r]);
}

/* ---- both ---- */

static void expect_array(const float *got, const float *want, size_t count, double tolerance,
                         const char *what, int rank)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance))
            fail_msg("rank %d: %s [%zu] is %.9g, not %.9g", rank, what, i, (double)got[i],
                     (double)want[i]);
}

static void expect_alike(network *net, network *want_net, double tolerance, int rank)
{
    ddp_param_table got, want;
    ddp_error err;

    assert_int_equal(ddp_param_table_init(&got, net, ddp_device_host(), &err), DDP_OK);
    assert_int_equal(ddp_param_table_init(&want, want_net, ddp_device_host(), &err), DDP_OK);
    for (size_t p = 0; p < want.param_count; p++)
        expect_array(got.params[p].value, want.params[p].value, want.params[p].count, tolerance,
                     want.params[p].part, rank);
    for (size_t b = 0; b < want.buffer_count; b++)
        expect_array(*got.buffers[b].slot, *want.buffers[b].slot, want.buffers[b].count, tolerance,
                     want.buffers[b].part, rank);
    ddp_param_table_release(&got);
    ddp_param_table_release(&want);
}

static void compare_with_definition(struct run run, double tolerance)
{
    network *defined[RANKS];

    define(&run, defined);
    run_ranks(&run);
    for (int r = 0; r < run.ranks; r++) {
        expect_alike(run.nets[r], defined[0], tolerance, r);
        expect_alike(run.nets[r], run.nets[0], 0, r);
    }
    free_all(run.nets, run.ranks);
    free_all(defined, run.ranks);
}

static const ddp_local_sgd_config plain = {.period = 3, .slow_momentum = -1, .slow_rate = 1};

/* Where it is divided by a power of two, the bits. */
static void ranks_come_to_what_the_definition_comes_to(void **state)
{
    static const int periods[] = {1, 2, 3, LAST_STEP, 100};

    (void)state;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        for (int ranks = 2; ranks <= RANKS; ranks++) {
            struct run run = {.ranks = ranks, .schedule = "", .local = plain, .verify_every = 1};

            run.local.period = periods[i];
            compare_with_definition(run, ranks == 3 ? 1e-6 : 0);
        }
}

static void with_adam_and_a_schedule_too(void **state)
{
    struct run run = {
        .ranks = 2, .schedule = "adam=1\npolicy=steps\nsteps=2,4\nscales=.5,.1\n", .local = plain};

    (void)state;
    compare_with_definition(run, 0);
}

static void slow_momentum_is_that_of_the_paper(void **state)
{
    static const double rates[] = {1, .7};

    (void)state;
    for (int ranks = 2; ranks <= RANKS; ranks++)
        for (size_t i = 0; i < 2; i++) {
            struct run run = {.ranks = ranks,
                              .schedule = "policy=steps\nsteps=4\nscales=.1\n",
                              .local = {.period = 2, .slow_momentum = .6, .slow_rate = rates[i]}};

            compare_with_definition(run, 1e-6);
        }
}

/* The last step, at a rate of 0, is one. */
static void a_period_without_a_learning_rate_is_no_slow_step(void **state)
{
    struct run run = {.ranks = 2,
                      .schedule = "policy=poly\npower=1\n",
                      .local = {.period = 3, .slow_momentum = .5, .slow_rate = 1}};

    (void)state;
    compare_with_definition(run, 1e-6);
}

static void a_period_of_one_is_summed_gradients_but_for_rounding(void **state)
{
    struct run summed = {.ranks = 2, .schedule = ""};
    struct run averaged = {.ranks = 2, .schedule = "", .local = plain};

    (void)state;
    averaged.local.period = 1;
    run_ranks(&summed);
    run_ranks(&averaged);
    for (size_t i = 0; i < 20; i++)
        assert_float_equal(averaged.nets[0]->layers[CONNECTED_LAYER].weights[i],
                           summed.nets[0]->layers[CONNECTED_LAYER].weights[i], 1e-5F);
    free_all(summed.nets, 2);
    free_all(averaged.nets, 2);
}

/* Layers whose update was put off in the warm-up's last step are updated with its sums. */
static void a_warm_up_is_summed_gradients_to_the_bit(void **state)
{
    struct run summed = {.ranks = 2, .schedule = ""};
    struct run warm = {.ranks = 2, .schedule = "", .local = plain, .defer_bytes = 1 << 20};
    struct run late[2] = {warm, warm};

    (void)state;
    warm.local.warmup = LAST_STEP;
    run_ranks(&summed);
    run_ranks(&warm);
    for (int r = 0; r < 2; r++)
        expect_alike(warm.nets[r], summed.nets[0], 0, r);
    free_all(summed.nets, 2);
    free_all(warm.nets, 2);

    for (int i = 0; i < 2; i++) {
        late[i].local.warmup = 4;
        late[i].defer_bytes = i ? 1 << 20 : 0;
        late[i].sums = i ? DDP_SCHEDULE_HIERARCHICAL : DDP_SCHEDULE_DIRECT;
        run_ranks(&late[i]);
    }
    expect_alike(late[1].nets[1], late[0].nets[0], 0, 1);
    free_all(late[0].nets, 2);
    free_all(late[1].nets, 2);
}

static void without_a_number_the_warm_up_is_the_cfgs_burn_in(void **state)
{
    struct run given = {.ranks = 2, .schedule = "burn_in=4\n", .local = plain};
    struct run not_given = given;

    (void)state;
    given.local.warmup = 4;
    not_given.local.warmup = 4;
    not_given.leaves_warmup_out = 1;
    run_ranks(&given);
    run_ranks(&not_given);
    expect_alike(not_given.nets[0], given.nets[0], 0, 0);
    free_all(given.nets, 2);
    free_all(not_given.nets, 2);
}

static void ranks_drop_a_step_together_that_one_of_them_cannot_use(void **state)
{
    struct run run = {.ranks = 2, .schedule = "", .local = plain, .poisoned = 2};

    (void)state;
    run_ranks(&run);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(run.dropped[r], 1);
        expect_alike(run.nets[r], run.nets[0], 0, r);
        assert_true(isfinite(run.nets[r]->layers[CONNECTED_LAYER].weights[3]));
    }
    free_all(run.nets, 2);
}

static void refuse_averages_of_weights(struct rank *me)
{
    struct run *run = me->shared;
    ddp_trainer_config config = {.reducer = {.bucket_bytes = 1, .first_bucket_bytes = 1},
                                 .broadcast_buffers = 1,
                                 .sync_every = 1,
                                 .options = &run->options,
                                 .fail = net_fail_hook};
    int batch = BATCH, subdivisions = BATCH / IMAGES;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_error(me, ddp_trainer_attach(t, run->nets[me->rank], &err), &err, DDP_ERR_USAGE,
                      "ema_alpha=0.5 averages the weights of all ranks at steps where those of "
                      "local SGD differ: set it to 0, or leave out local SGD");
    ddp_trainer_close(t);
}

static void averages_of_weights_are_refused(void **state)
{
    struct run run = {.ranks = 2, .schedule = "ema_alpha=.5\n", .local = plain};

    (void)state;
    ask(&run);
    for (int r = 0; r < run.ranks; r++)
        run.nets[r] = parse(&run, BATCH);
    ranks_run(run.ranks, refuse_averages_of_weights, &run);
    free_all(run.nets, run.ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_come_to_what_the_definition_comes_to),
        cmocka_unit_test(with_adam_and_a_schedule_too),
        cmocka_unit_test(slow_momentum_is_that_of_the_paper),
        cmocka_unit_test(a_period_without_a_learning_rate_is_no_slow_step),
        cmocka_unit_test(a_period_of_one_is_summed_gradients_but_for_rounding),
        cmocka_unit_test(a_warm_up_is_summed_gradients_to_the_bit),
        cmocka_unit_test(without_a_number_the_warm_up_is_the_cfgs_burn_in),
        cmocka_unit_test(ranks_drop_a_step_together_that_one_of_them_cannot_use),
        cmocka_unit_test(averages_of_weights_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
