/* ddp-test: quick */
/* Numbers that are not finite are found: by their bits, in a sum by every rank, in a reducer's
 * step, in statistics, in a loss. */
#include "base/is_finite.h"

#include "comm/work.h"
#include "core/batchnorm_stats.h"
#include "core/loss.h"
#include "device/sum.h"
#include "toy.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { COUNT = 10000, CHUNK = 1 << 17 };

static const float finite_values[] = {0, -0.0F, 1, FLT_MIN, FLT_MIN / 4, FLT_MAX, -FLT_MAX};
static const float other_values[] = {NAN, -NAN, INFINITY, -INFINITY};

enum {
    FINITE = sizeof finite_values / sizeof(float),
    OTHERS = sizeof other_values / sizeof(float)
};

static void bits_tell(void **state)
{
    (void)state;
    for (int i = 0; i < FINITE; i++)
        assert_true(ddp_bits_are_finite(ddp_finite_bits(finite_values[i])));
    for (int i = 0; i < OTHERS; i++)
        assert_false(ddp_bits_are_finite(ddp_finite_bits(other_values[i])));
}

static void one_element_is_found_wherever_it_is(void **state)
{
    static char memory[(COUNT + 1) * sizeof(float)];

    (void)state;
    for (size_t shift = 0; shift < sizeof(float); shift++) {
        char *x = memory + shift;

        for (size_t i = 0; i < COUNT; i++)
            memcpy(x + i * sizeof(float), &finite_values[i % FINITE], sizeof(float));
        assert_true(ddp_all_finite(x, COUNT));
        for (size_t i = 0; i < COUNT; i += 1 + i / 7) {
            memcpy(x + i * sizeof(float), &other_values[i % OTHERS], sizeof(float));
            assert_false(ddp_all_finite(x, COUNT));
            assert_true(ddp_all_finite(x, i));
            memcpy(x + i * sizeof(float), &finite_values[0], sizeof(float));
        }
    }
    assert_true(ddp_all_finite(NULL, 0));
}

/* Part `bad` alone has it, at `at`; -1: none. */
static int tree_of(int size, int own, int bad, size_t at, float value)
{
    static float values[RANKS_MAX][COUNT];
    float *parts[RANKS_MAX];

    for (int r = 0; r < size; r++) {
        parts[r] = values[r];
        for (size_t i = 0; i < COUNT; i++)
            values[r][i] = (float)r;
    }
    if (bad >= 0)
        values[bad][at] = value;
    return ddp_sum_tree(parts, size, own, COUNT, DDP_WIRE_FP32);
}

static void the_tree_tells_of_any_part(void **state)
{
    enum { MOST = 12 }; /* each of them has been the bad one of each size */

    (void)state;
    for (int size = 1; size <= MOST; size++)
        for (int own = 0; own < size; own++) {
            assert_true(tree_of(size, own, -1, 0, 0));
            for (int bad = 0; bad < size; bad++) {
                assert_false(tree_of(size, own, bad, COUNT - 1, NAN));
                assert_false(tree_of(size, own, bad, 2047, -INFINITY));
            }
        }
}

static void a_sum_that_overflows_is_told(void **state)
{
    float w = FLT_MAX, b = FLT_MAX;
    float *parts[] = {&w, &b};

    (void)state;
    assert_false(ddp_sum_tree(parts, 2, 1, 1, DDP_WIRE_FP32));
}

/* ---- every rank knows ---- */

struct sum {
    size_t count;
    int bad; /* rank */
    size_t at;
};

static void expect_finite(struct rank *me, ddp_work *w, float *x, const struct sum *s, int bad)
{
    ddp_error err;

    for (size_t i = 0; i < s->count; i++)
        x[i] = 1;
    if (bad && me->rank == s->bad)
        x[s->at] = me->size % 2 ? NAN : INFINITY;
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    if (ddp_work_finite(w) == bad)
        rank_wrong(me, "%zu elements, rank %d's [%zu] %s: told that the sum is%s finite", s->count,
                   s->bad, s->at, bad ? "is not finite" : "is 1", bad ? "" : " not");
    for (size_t i = 0; i < s->count && !bad; i++)
        if (x[i] != (float)me->size)
            rank_wrong(me, "[%zu] is %g, not %d", i, (double)x[i], me->size);
}

static void sum_twice(struct rank *me)
{
    const struct sum *s = me->shared;
    float *x = calloc(s->count, sizeof *x);
    ddp_work *w;
    ddp_error err;

    if (!x)
        abort();
    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, x, s->count, &err), &err);
    if (!ddp_work_finite(w))
        rank_wrong(me, "not finite before the first sum");
    expect_finite(me, w, x, s, 0);
    expect_finite(me, w, x, s, 1);
    expect_finite(me, w, x, s, 0);
    ddp_work_close(w);
    free(x);
}

static void every_rank_is_told_of_every_sum(void **state)
{
    static const size_t counts[] = {1, 7, 5000, 20000, CHUNK + 5, 2 * CHUNK};

    (void)state;
    for (int size = 1; size <= 5; size++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t third = 0; third < 3; third++) {
                struct sum s = {.count = counts[c],
                                .bad = (int)third % size,
                                .at = (counts[c] - 1) * third / 2};

                ranks_run(size, sum_twice, &s);
            }
}

/* ---- a step is dropped ---- */

static void backward(struct rank *me, struct toy *toy, ddp_reducer *r, int bad)
{
    ddp_error err;

    ddp_reducer_backward_begin(r, 1);
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--) {
        for (size_t p = 0; p < TOY_PARAMS; p++)
            if (toy->params[p].layer == layer)
                toy->gradients[p][0] += bad && layer == 6 && me->rank == 0 ? NAN : 1;
        rank_expect_ok(me, ddp_reducer_layer_ready(r, layer, &err), &err);
    }
    rank_expect_ok(me, ddp_reducer_backward_end(r, &err), &err);
    rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(r, &err), &err);
}

static void drop_one_step(struct rank *me)
{
    const ddp_reducer_config config = {
        .bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1};
    struct toy toy;
    ddp_reducer *r;
    size_t bucket = 99;
    ddp_error err;
    int used;

    toy_open(&toy, 0);
    rank_expect_ok(me, ddp_reducer_open(&r, me->group, &toy.table, &config, &err), &err);
    backward(me, &toy, r, 1);
    if (ddp_reducer_finite(r, &bucket))
        rank_wrong(me, "NaN in layer 6 is not told");
    else if (ddp_reducer_plan(r)->buckets[bucket].first_layer != 6)
        rank_wrong(me, "bucket %zu, not layer 6's", bucket);
    ddp_reducer_discard_step(r);
    backward(me, &toy, r, 0);
    if (!ddp_reducer_finite(r, &bucket))
        rank_wrong(me, "the next step is told not to be finite");
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_wait(r, layer, &used, &err), &err);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        if (toy.gradients[p][0] != (float)me->size)
            rank_wrong(me, "parameter %zu is %g, not %d", p, (double)toy.gradients[p][0], me->size);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void a_dropped_step_leaves_nothing_behind(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++)
        ranks_run(size, drop_one_step, NULL);
}

/* ---- statistics ---- */

static void train(struct rank *me, ddp_batchnorm_stats *s, float *x, int mini_batches, float seen)
{
    ddp_error err;

    rank_expect_ok(me, ddp_batchnorm_stats_begin_forward(s, &err), &err);
    rank_expect_ok(me, ddp_batchnorm_stats_keep_values(s, &err), &err);
    ddp_batchnorm_stats_begin_step(s);
    for (int mini_batch = 0; mini_batch < mini_batches; mini_batch++) {
        if (mini_batch > 0)
            rank_expect_ok(me, ddp_batchnorm_stats_begin_forward(s, &err), &err);
        *x = .9F * *x + .1F * seen;
        ddp_batchnorm_stats_fold_mini_batch(s, mini_batch);
    }
    rank_expect_ok(me, ddp_batchnorm_stats_start_sum(s, &err), &err);
    rank_expect_ok(me, ddp_batchnorm_stats_fence(s, &err), &err);
}

static void restore(struct rank *me)
{
    const int *exact = me->shared;
    float memory = 5, *slot = &memory, before;
    ddp_buffer buffer = {
        .layer = 1, .kind = "convolutional", .part = "mean", .count = 1, .keep = .9, .slot = &slot};
    ddp_param_table table = {
        .device = ddp_device_host(), .layer_count = 2, .buffer_count = 1, .buffers = &buffer};
    ddp_batchnorm_stats *s;
    ddp_error err;

    rank_expect_ok(me,
                   ddp_batchnorm_stats_open(&s, me->group, &table,
                                            *exact ? DDP_STATISTICS_EXACT : DDP_STATISTICS_SUMMED,
                                            2, 0, &err),
                   &err);
    train(me, s, slot, 2, 7);
    if (!ddp_batchnorm_stats_finite(s))
        rank_wrong(me, "a finite step is told not to be");
    rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
    before = *slot;
    train(me, s, slot, 2, me->rank == 0 ? INFINITY : 7);
    if (ddp_batchnorm_stats_finite(s))
        rank_wrong(me, "rank 0's infinity is not told");
    rank_expect_ok(me, ddp_batchnorm_stats_restore_values(s, &err), &err);
    rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
    if (*slot != before || before == 5)
        rank_wrong(me, "restored %g, not %g", (double)*slot, (double)before);
    train(me, s, slot, 2, 7);
    rank_expect_ok(me, ddp_batchnorm_stats_settle(s, &err), &err);
    if (!ddp_batchnorm_stats_finite(s) || !(*slot > before && *slot < 7))
        rank_wrong(me, "after it: %g", (double)*slot);
    ddp_batchnorm_stats_close(s);
}

static void statistics_are_told_and_restored(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (int size = 1; size <= 4; size *= 2)
            ranks_run(size, restore, &exact);
}

/* ---- the loss ---- */

static void expect_loss(struct rank *me, ddp_loss *l, float mine, int finite, float want)
{
    ddp_error err;
    float got;

    ddp_loss_add(l, 0, mine);
    rank_expect_ok(me, ddp_loss_start(l, &err), &err);
    rank_expect_ok(me, ddp_loss_finish(l, &err), &err);
    got = ddp_loss_take_mean(l);
    if (ddp_loss_finite(l) != finite || got != want)
        rank_wrong(me, "loss %g, told to be finite: %d; not %g, %d", (double)got,
                   ddp_loss_finite(l), (double)want, finite);
}

static void lose(struct rank *me)
{
    float bad = me->rank == me->size - 1 ? INFINITY : 1;
    ddp_loss *l;
    ddp_error err;

    rank_expect_ok(me, ddp_loss_open(&l, me->group, 0, NULL, &err), &err);
    expect_loss(me, l, bad, 0, 0);
    expect_loss(me, l, 3, 1, 3);
    expect_loss(me, l, bad, 0, 3);
    expect_loss(me, l, 4, 1, 4);
    ddp_loss_close(l);
}

static void the_last_finite_loss_stands_for_another(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++)
        ranks_run(size, lose, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_tell),
        cmocka_unit_test(one_element_is_found_wherever_it_is),
        cmocka_unit_test(the_tree_tells_of_any_part),
        cmocka_unit_test(a_sum_that_overflows_is_told),
        cmocka_unit_test(every_rank_is_told_of_every_sum),
        cmocka_unit_test(a_dropped_step_leaves_nothing_behind),
        cmocka_unit_test(statistics_are_told_and_restored),
        cmocka_unit_test(the_last_finite_loss_stands_for_another),
    };

    return cmocka_run_group_tests_name("finite", tests, NULL, NULL);
}
