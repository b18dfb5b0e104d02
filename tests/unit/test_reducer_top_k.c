/* Top-k (core/compressor.h, core/top_k.h) against its definition, computed for all ranks in one
 * place by sorting: gradients and errors of several steps, bit for bit, on 2 to 4 ranks. */
#include "core/feedback.h"
#include "core/reducer.h"
#include "core/top_k.h"
#include "ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, PARAMS = 4, LAYERS = 4, STEPS = 5, LARGEST = 40 * 100 };

/* Layer 1 runs in no even step. The last one is a vector. */
static const struct {
    int layer;
    size_t rows, columns;
} shape[PARAMS] = {{0, 24, 90}, {1, 40, 100}, {2, 16, 16}, {3, 1, 24}};

static const ddp_compress_config top_k = {.method = DDP_COMPRESS_TOP_K, .percent = 3};

static size_t count_of(size_t p)
{
    return shape[p].rows * shape[p].columns;
}

static int is_compressed(size_t p)
{
    return p < 3;
}

static int runs(int layer, int step)
{
    return layer != 1 || step % 2 == 1;
}

/* Whole numbers, so that there are equal ones and sums are exact. */
static float gradient_at(int rank, int step, size_t p, size_t i)
{
    uint64_t h = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15U + (uint64_t)step * 0xC2B2AE3D27D4EB4FU
                 + (uint64_t)p * 0x165667B19E3779F9U + i * 0xD6E8FEB86659FD93U;

    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    return (float)(h % 101) - 50;
}

/* ---- a rank's network ---- */

struct net {
    ddp_table table;
    ddp_param params[PARAMS];
    float value;
    float *gradients[PARAMS], *memory[PARAMS];
    ddp_feedback *feedback;
    ddp_reducer *reducer;
};

static void close_net(struct net *n)
{
    ddp_reducer_close(n->reducer);
    ddp_feedback_close(n->feedback);
    for (size_t p = 0; p < PARAMS; p++)
        free(n->memory[p]);
}

static int open_net(struct net *n, struct rank *me, const ddp_reducer_config *config)
{
    ddp_reducer_config with = *config;
    ddp_error err;

    *n = (struct net){.table = {.layer_count = LAYERS,
                                .param_count = PARAMS,
                                .device = ddp_device_host(),
                                .params = n->params}};
    for (size_t p = 0; p < PARAMS; p++) {
        n->gradients[p] = n->memory[p] = calloc(count_of(p), sizeof(float));
        if (!n->memory[p])
            abort();
        n->params[p] = (ddp_param){.layer = shape[p].layer,
                                   .kind = "convolutional",
                                   .part = "weights",
                                   .count = count_of(p),
                                   .rows = shape[p].rows,
                                   .value = &n->value,
                                   .gradient_slot = &n->gradients[p]};
    }
    if (ddp_feedback_open(&n->feedback, &n->table, &top_k, &err)) {
        rank_wrong(me, "%s", err.text);
        close_net(n);
        return 0;
    }
    with.feedback = n->feedback;
    if (ddp_reducer_open(&n->reducer, me->group, &n->table, &with, &err)) {
        rank_wrong(me, "%s", err.text);
        close_net(n);
        return 0;
    }
    return 1;
}

static void take_step(struct net *n, struct rank *me, int step)
{
    ddp_error err;

    ddp_reducer_backward_begin(n->reducer, 1);
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        if (!runs(layer, step))
            continue;
        for (size_t i = 0; i < count_of((size_t)layer); i++)
            n->gradients[layer][i] += gradient_at(me->rank, step, (size_t)layer, i);
        rank_expect_ok(me, ddp_reducer_layer_ready(n->reducer, layer, &err), &err);
    }
    rank_expect_ok(me, ddp_reducer_backward_end(n->reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_launch_deferred(n->reducer, &err), &err);
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        int used = -1;

        rank_expect_ok(me, ddp_reducer_layer_wait(n->reducer, layer, &used, &err), &err);
        if (used != runs(layer, step))
            rank_wrong(me, "step %d, layer %d: used is %d", step, layer, used);
    }
}

/* ---- the definition ---- */

struct model {
    float error[MAX_RANKS][PARAMS][LARGEST];
    float sum[PARAMS][LARGEST];
};

struct element {
    float value;
    size_t place;
};

static int by_size(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    float sx = fabsf(x->value), sy = fabsf(y->value);

    if (sx > sy || sx < sy)
        return sx < sy ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static void define_rank(struct model *m, int rank, int step, size_t p)
{
    size_t count = count_of(p), kept = (size_t)ceil((double)count * 3 / 100);
    struct element all[LARGEST];

    for (size_t i = 0; i < count; i++) {
        m->error[rank][p][i] += gradient_at(rank, step, p, i);
        all[i] = (struct element){m->error[rank][p][i], i};
    }
    qsort(all, count, sizeof *all, by_size);
    for (size_t i = 0; i < kept; i++) {
        m->sum[p][all[i].place] += all[i].value;
        m->error[rank][p][all[i].place] = 0;
    }
}

static void define(struct model *m, int size, int step)
{
    memset(m->sum, 0, sizeof m->sum);
    for (size_t p = 0; p < PARAMS; p++)
        for (int r = 0; r < size && runs(shape[p].layer, step); r++)
            if (is_compressed(p))
                define_rank(m, r, step, p);
            else
                for (size_t i = 0; i < count_of(p); i++)
                    m->sum[p][i] += gradient_at(r, step, p, i);
}

/* ---- the tests ---- */

static const ddp_reducer_config configs[] = {
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1, .find_unused = 1},
};

struct job {
    const ddp_reducer_config *config;
    struct model *models; /* of each rank, so that they compute side by side */
};

static void compare(struct rank *me, const char *what, int step, size_t p, const float *got,
                    const float *want)
{
    for (size_t i = 0; i < count_of(p); i++)
        if (got[i] < want[i] || got[i] > want[i] || isnan(got[i])) {
            rank_wrong(me, "step %d, parameter %zu: %s [%zu] is %g, not %g", step, p, what, i,
                       (double)got[i], (double)want[i]);
            return;
        }
}

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;
    struct model *m = &job->models[me->rank];
    struct net n;

    if (!open_net(&n, me, job->config))
        return;
    memset(m, 0, sizeof *m);
    for (int step = 0; step < STEPS; step++) {
        take_step(&n, me, step);
        define(m, me->size, step);
        for (size_t p = 0; p < PARAMS; p++) {
            compare(me, "the sum", step, p, n.gradients[p], m->sum[p]);
            if (is_compressed(p))
                compare(me, "the error", step, p, ddp_feedback_error(n.feedback, p),
                        m->error[me->rank][p]);
            if (ddp_feedback_q(n.feedback, p))
                rank_wrong(me, "top-k has no Q");
            memset(n.gradients[p], 0, count_of(p) * sizeof(float));
        }
    }
    rank_meet(me);
    close_net(&n);
}

static void it_is_its_definition_whatever_the_buckets(void **state)
{
    struct model *models = calloc(MAX_RANKS, sizeof *models);

    (void)state;
    assert_non_null(models);
    for (int size = 2; size <= MAX_RANKS; size++)
        for (size_t c = 0; c < sizeof configs / sizeof configs[0]; c++) {
            struct job job = {.config = &configs[c], .models = models};

            ranks_run(size, take_steps, &job);
        }
    free(models);
}

static void one_that_is_no_number_is_told_and_seen_by_all(struct rank *me)
{
    struct net n;
    ddp_error err;
    size_t bucket;

    if (!open_net(&n, me, &configs[0]))
        return;
    ddp_reducer_backward_begin(n.reducer, 1);
    if (me->rank == 1)
        n.gradients[1][77] = NAN;
    for (int layer = LAYERS - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_ready(n.reducer, layer, &err), &err);
    rank_expect_ok(me, ddp_reducer_backward_end(n.reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(n.reducer, &err), &err);
    if (ddp_reducer_finite(n.reducer, &bucket))
        rank_wrong(me, "a number that is none was not seen");
    ddp_reducer_drop(n.reducer);
    for (size_t i = 0; i < count_of(1); i++)
        if (fpclassify(ddp_feedback_error(n.feedback, 1)[i]) != FP_ZERO)
            rank_wrong(me, "error [%zu] is not zero", i);
    rank_meet(me);
    close_net(&n);
}

static void what_is_no_number_is_seen_and_dropped(void **state)
{
    (void)state;
    ranks_run(3, one_that_is_no_number_is_told_and_seen_by_all, NULL);
}

static void the_largest_are_taken_and_of_equal_ones_the_first(void **state)
{
    const float x[8] = {1, -3, 2, 3, -0.0F, 3, INFINITY, 2}, nothing[3] = {0, 0, 0};
    float told[10], back[8] = {0};

    (void)state;
    assert_int_equal(ddp_top_k_numbers(8, 50), 8);
    assert_int_equal(ddp_top_k_numbers(8, 51), 10);
    assert_int_equal(ddp_top_k_numbers(1, 0.001), 2);
    assert_int_equal(ddp_top_k_numbers(0, 1), 0);
    ddp_top_k_take(told, x, 8, 37.5);
    assert_memory_equal(told, ((const float[]){-3, 3, INFINITY, 1, 3, 6}), 6 * sizeof(float));
    ddp_top_k_take(told, x, 8, 62.5);
    assert_memory_equal(told, ((const float[]){-3, 2, 3, 3, INFINITY, 1, 2, 3, 5, 6}), sizeof told);
    ddp_top_k_add(back, told, 8, 62.5);
    ddp_top_k_add(back, told, 8, 62.5);
    assert_memory_equal(back, ((const float[]){0, -6, 4, 6, 0, 6, INFINITY, 0}), sizeof back);
    ddp_top_k_clear(back, told, 8, 62.5);
    assert_memory_equal(back, ((const float[]){0, 0, 0, 0, 0, 0, 0, 0}), sizeof back);
    ddp_top_k_take(told, nothing, 3, 25);
    assert_memory_equal(told, ((const float[]){0, 0}), 2 * sizeof(float));
}

/* Of 2^24 elements and some. */
static void a_long_array_is_told_in_sections(void **state)
{
    const size_t section = (size_t)1 << 24, count = section + 100;
    const double percent = 100.0 / (double)section; /* one of each */
    float *x = calloc(count, sizeof *x), told[4];

    (void)state;
    assert_non_null(x);
    x[section - 1] = 5;
    x[section + 99] = -6;
    assert_int_equal(ddp_top_k_numbers(count, percent), 4);
    ddp_top_k_take(told, x, count, percent);
    assert_memory_equal(told, ((const float[]){5, 16777215, -6, 99}), sizeof told);
    ddp_top_k_clear(x, told, count, percent);
    for (size_t i = 0; i < count; i++)
        assert_true(fpclassify(x[i]) == FP_ZERO);
    ddp_top_k_add(x, told, count, percent);
    assert_true(x[section - 1] > 4 && x[section + 99] < -5);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_taken_and_of_equal_ones_the_first),
        cmocka_unit_test(a_long_array_is_told_in_sections),
        cmocka_unit_test(it_is_its_definition_whatever_the_buckets),
        cmocka_unit_test(what_is_no_number_is_seen_and_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
