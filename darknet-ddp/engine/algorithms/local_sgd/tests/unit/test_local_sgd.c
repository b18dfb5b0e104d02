/* ddp-test: quick */
/* Tests on a toy network: which arrays local SGD averages, when, and that ranks fail together. */
#include "algorithms/local_sgd/averaging.h"
#include "comm/group_schedule.h"

#include "unit/toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { FROZEN_BELOW = 3, NOWHERE = 6, ON_RANK_0 = 4, MAX_RANKS = 4, STATISTICS = 3 };

/* The toy, with momentum and statistics. */
struct learner {
    struct toy toy;
    float *momentum[TOY_PARAMS], *slow[TOY_PARAMS];
    float statistics[STATISTICS];
    float *statistics_slot;
    ddp_buffer buffer;
};

static void fill(float *x, size_t count, int rank)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(12 * rank) + (float)(i % 5);
}

static void open_learner(struct learner *l, int rank)
{
    toy_open(&l->toy, FROZEN_BELOW);
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        ddp_param *param = &l->toy.params[p];

        l->momentum[p] = calloc(param->count, sizeof(float));
        l->slow[p] = calloc(param->count, sizeof(float));
        param->optimizer =
            (ddp_optimizer){.buffer = {l->momentum[p]}, .name = {"momentum"}, .moments = 1};
        fill(l->momentum[p], param->count, rank);
    }
    fill(l->statistics, STATISTICS, rank);
    l->statistics_slot = l->statistics;
    l->buffer = (ddp_buffer){.layer = 1,
                             .kind = "toy",
                             .part = "mean",
                             .count = STATISTICS,
                             .slot = &l->statistics_slot};
    l->toy.table.buffers = &l->buffer;
    l->toy.table.buffer_count = 1;
}

static void close_learner(struct learner *l)
{
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        free(l->momentum[p]);
        free(l->slow[p]);
    }
    toy_close(&l->toy);
}

/* After a period that began with zero: each rank's values, of layers that ran. */
static void learn(struct learner *l, ddp_local_sgd *sgd, int rank)
{
    ddp_local_sgd_begin_update(sgd, .5);
    for (int layer = FROZEN_BELOW; layer < TOY_LAYERS; layer++)
        if (toy_has_params(layer) && layer != NOWHERE && (layer != ON_RANK_0 || rank == 0))
            ddp_local_sgd_note_layer(sgd, layer);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        fill(l->toy.values[p], l->toy.params[p].count, rank);
}

/* The mean over ranks, or what the rank has. */
static void expect(struct rank *me, const float *x, size_t count, int averaged, double times,
                   const char *what)
{
    double first = averaged ? 6.0 * (me->size - 1) : 12.0 * me->rank;

    for (size_t i = 0; i < count; i++) {
        double want = times * (first + (double)(i % 5));

        if (!(fabs((double)x[i] - want) <= 1e-6 * (1 + fabs(want))))
            rank_wrong(me, "%s [%zu] is %g, not %g", what, i, (double)x[i], want);
    }
}

/* slow_rate is 1 and slow momentum was zero, so that parameters are the mean in any case. */
static void average(struct rank *me, double slow_momentum)
{
    const ddp_local_sgd_config config = {
        .period = 2, .slow_momentum = slow_momentum, .slow_rate = 1};
    struct learner l;
    ddp_local_sgd *sgd;
    ddp_error err;

    open_learner(&l, me->rank);
    rank_expect_ok(me, ddp_local_sgd_open(&sgd, me->group, &l.toy.table, &config, l.slow, &err),
                   &err);
    if (!ddp_local_sgd_in_sync(sgd))
        rank_wrong(me, "ranks differ before they have learnt");
    learn(&l, sgd, me->rank);
    if (ddp_local_sgd_in_sync(sgd))
        rank_wrong(me, "ranks have learnt and are alike");
    rank_expect_ok(me, ddp_local_sgd_average_ranks(sgd, &err), &err);
    if (!ddp_local_sgd_in_sync(sgd))
        rank_wrong(me, "ranks have averaged and differ");
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        const ddp_param *param = &l.toy.params[p];
        int averaged = param->layer >= FROZEN_BELOW && param->layer != NOWHERE;

        expect(me, param->value, param->count, averaged, 1, "value");
        expect(me, l.momentum[p], param->count, averaged, 1, "momentum");
        if (slow_momentum >= 0) /* (0 - mean) / rate */
            expect(me, l.slow[p], param->count, 1, averaged ? -2 : 0, "slow momentum");
    }
    expect(me, l.statistics, STATISTICS, 1, 1, "statistics");
    ddp_local_sgd_close(sgd);
    close_learner(&l);
}

static void average_plainly(struct rank *me)
{
    average(me, -1);
}

static void average_slowly(struct rank *me)
{
    average(me, .5);
}

static void what_ran_on_some_rank_is_averaged_and_nothing_else(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++) {
        ranks_run(size, average_plainly, NULL);
        ranks_run(size, average_slowly, NULL);
    }
}

/* A learner that averages each 2 steps, without slow momentum. */
static ddp_local_sgd *open_plain(struct rank *me, struct learner *l)
{
    static const ddp_local_sgd_config config = {.period = 2, .slow_momentum = -1};
    ddp_local_sgd *sgd = NULL;
    ddp_error err;

    open_learner(l, me->rank);
    rank_expect_ok(me, ddp_local_sgd_open(&sgd, me->group, &l->toy.table, &config, NULL, &err),
                   &err);
    return sgd;
}

/* A layer that ran nowhere sends none of its parameters. */
static void count_bytes(struct rank *me)
{
    size_t all = TOY_LAYERS + STATISTICS, sent = all;
    ddp_traffic before, after;
    struct learner l;
    ddp_local_sgd *sgd;
    ddp_error err;

    sgd = open_plain(me, &l);
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        all += l.toy.params[p].layer >= FROZEN_BELOW ? 2 * l.toy.params[p].count : 0;
        if (l.toy.params[p].layer >= FROZEN_BELOW && l.toy.params[p].layer != NOWHERE)
            sent += 2 * l.toy.params[p].count;
    }
    if (ddp_local_sgd_bytes(sgd) != all * sizeof(float))
        rank_wrong(me, "it says %zu bytes, not %zu", ddp_local_sgd_bytes(sgd), all * sizeof(float));
    learn(&l, sgd, me->rank);
    before = ddp_group_traffic(me->group);
    rank_expect_ok(me, ddp_local_sgd_average_ranks(sgd, &err), &err);
    after = ddp_group_traffic(me->group);
    /* Each of 2 ranks sends half of its own array, and half of the sum. */
    if (after.bytes - before.bytes > sent * sizeof(float) + 64 * (3 * TOY_PARAMS + 2))
        rank_wrong(me, "it sent %zu bytes, not %zu", (size_t)(after.bytes - before.bytes),
                   sent * sizeof(float));
    before = after;
    rank_expect_ok(me, ddp_local_sgd_average_ranks(sgd, &err), &err);
    if (ddp_group_traffic(me->group).bytes != before.bytes)
        rank_wrong(me, "ranks that are alike send something");
    ddp_local_sgd_close(sgd);
    close_learner(&l);
}

static void what_ran_nowhere_is_not_sent(void **state)
{
    (void)state;
    ranks_run(2, count_bytes, NULL);
}

static void average_infinity(struct rank *me)
{
    struct learner l;
    ddp_local_sgd *sgd;
    ddp_error err;

    sgd = open_plain(me, &l);
    learn(&l, sgd, me->rank);
    if (me->rank == 1)
        l.momentum[TOY_PARAMS - 1][0] = INFINITY;
    rank_expect_error(me, ddp_local_sgd_average_ranks(sgd, &err), &err, DDP_ERR_FORMAT,
                      "layer 8 (convolutional) biases, momentum, is not finite on some rank "
                      "after 1 step of its own");
    ddp_local_sgd_close(sgd);
    close_learner(&l);
}

static void every_rank_learns_that_a_mean_is_not_finite(void **state)
{
    (void)state;
    ranks_run(3, average_infinity, NULL);
}

static void periods_count_from_the_warm_up_and_end_with_the_run(void **state)
{
    const ddp_local_sgd_config config = {
        .period = 4, .warmup = 3, .last_step = 13, .slow_momentum = -1};
    struct toy toy;
    ddp_group *group;
    ddp_local_sgd *sgd;
    ddp_error err;

    (void)state;
    toy_open(&toy, 0);
    assert_int_equal(ddp_group_open(&group, "solo", &err), DDP_OK);
    assert_int_equal(ddp_local_sgd_open(&sgd, group, &toy.table, &config, NULL, &err), DDP_OK);
    for (size_t step = 1; step <= 13; step++) {
        assert_int_equal(ddp_local_sgd_is_local_step(sgd, step), step > 3);
        assert_int_equal(ddp_local_sgd_ends_period(sgd, step),
                         step == 7 || step == 11 || step == 13);
    }
    assert_false(ddp_local_sgd_is_local_step(NULL, 5));
    assert_true(ddp_local_sgd_in_sync(NULL));
    ddp_local_sgd_close(sgd);
    ddp_group_close(group);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_on_some_rank_is_averaged_and_nothing_else),
        cmocka_unit_test(what_ran_nowhere_is_not_sent),
        cmocka_unit_test(every_rank_learns_that_a_mean_is_not_finite),
        cmocka_unit_test(periods_count_from_the_warm_up_and_end_with_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
