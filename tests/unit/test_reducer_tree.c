/* ddp-test: quick tsan */
/* Exact sums: S mini-batches in one binary tree, whichever ranks run them. */
#include "../reference_sum.h"
#include "core/tree_sum.h"
#include "numbers.h"
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MOST_MINI_BATCHES = 64, STEPS = 2, CONFIGS = 6, IDLE_LAYER = 6 };

static const ddp_reducer_config configs[CONFIGS] = {
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 4096, .first_bucket_bytes = 64, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 4096, .first_bucket_bytes = 64, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1,
     .first_bucket_bytes = 1,
     .defer_bytes = 1 << 30,
     .overlap = 1,
     .find_unused = 1},
    {.bucket_bytes = 300,
     .first_bucket_bytes = 64,
     .defer_bytes = 2000,
     .overlap = 0,
     .find_unused = 1},
};

struct job {
    ddp_reducer_config config;
    int number; /* mini-batches of a step, all ranks together */
    int skips;  /* some mini-batches skip some layers, and all of step 1 IDLE_LAYER */
    float *want[STEPS][TOY_PARAMS];
};

static int runs(const struct job *job, int step, int p, int layer)
{
    if (!job->skips)
        return 1;
    return (layer != IDLE_LAYER || step != 1) && (p * 7 + layer * 3 + step) % 5 > 1;
}

static float added(const struct job *job, int step, int p, const ddp_param *param, size_t i)
{
    return runs(job, step, p, param->layer) ? reference_value(p, step * 1000 + (int)param->count, i)
                                            : 0;
}

/* The definition: mini-batches first..first+n, a power of two. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static float tree_sum(const struct job *job, int step, int first, int n, const ddp_param *param,
                      size_t i)
{
    if (n == 1)
        return added(job, step, first, param, i);
    return tree_sum(job, step, first, n / 2, param, i)
           + tree_sum(job, step, first + n / 2, n / 2, param, i);
}

static void open_want(struct job *job)
{
    struct toy toy;

    toy_open(&toy, 0);
    for (int step = 0; step < STEPS; step++)
        for (size_t k = 0; k < TOY_PARAMS; k++) {
            const ddp_param *param = &toy.params[k];
            float *want = calloc(param->count, sizeof *want);

            assert_non_null(want);
            for (size_t i = 0; i < param->count; i++)
                want[i] = tree_sum(job, step, 0, job->number, param, i);
            job->want[step][k] = want;
        }
    toy_close(&toy);
}

static void close_want(struct job *job)
{
    for (int step = 0; step < STEPS; step++)
        for (size_t k = 0; k < TOY_PARAMS; k++)
            free(job->want[step][k]);
}

static void run_layer(struct toy *t, const struct job *job, int step, int p, int layer)
{
    for (size_t k = 0; k < TOY_PARAMS; k++) {
        const ddp_param *param = &t->params[k];

        for (size_t i = 0; param->layer == layer && i < param->count; i++)
            t->gradients[k][i] += added(job, step, p, param, i);
    }
}

/* Layers become ready in an order of the mini-batch's own. */
static void mini_batch(struct toy *t, ddp_reducer *r, int step, int p, int last, struct rank *me)
{
    const struct job *job = me->shared;
    ddp_error err;

    ddp_reducer_backward_begin(r, last);
    for (int i = 0; i < TOY_LAYERS; i++) {
        int layer = (i * 7 + p) % TOY_LAYERS;

        if (!runs(job, step, p, layer))
            continue;
        run_layer(t, job, step, p, layer);
        rank_expect_ok(me, ddp_reducer_layer_ready(r, layer, &err), &err);
        rank_expect_ok(me, ddp_reducer_layer_ready(r, layer, &err), &err);
    }
    rank_expect_ok(me, ddp_reducer_backward_end(r, &err), &err);
    if (last)
        rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
}

static void check_layer(struct toy *t, int step, int layer, int used, struct rank *me)
{
    const struct job *job = me->shared;
    int ran = !toy_has_params(layer);

    for (int p = 0; p < job->number; p++)
        ran |= runs(job, step, p, layer);
    if (used != ran)
        rank_wrong(me, "step %d, layer %d: used is %d, not %d", step, layer, used, ran);
    for (size_t k = 0; k < TOY_PARAMS; k++) {
        const ddp_param *param = &t->params[k];

        if (param->layer != layer)
            continue;
        for (size_t i = 0; i < param->count; i++)
            if (!reference_same_bits(t->gradients[k][i], job->want[step][k][i]))
                rank_wrong(me, "step %d of %d mini-batches, layer %d %s [%zu]: %.9g, not %.9g",
                           step, job->number, layer, param->part, i, (double)t->gradients[k][i],
                           (double)job->want[step][k][i]);
        memset(t->gradients[k], 0, param->count * sizeof(float));
    }
}

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;
    int mini_batches = job->number / me->size;
    ddp_reducer_config config = job->config;
    ddp_reducer *r;
    struct toy toy;
    ddp_error err;

    config.mini_batches = mini_batches;
    toy_open(&toy, 0);
    if (ddp_reducer_open(&r, me->group, &toy.table, &config, &err)) {
        rank_wrong(me, "%s", err.text);
        toy_close(&toy);
        return;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < mini_batches; i++)
            mini_batch(&toy, r, step, me->rank * mini_batches + i, i == mini_batches - 1, me);
        for (int layer = TOY_LAYERS - 1; layer >= 0; layer--) {
            int used = -1;

            rank_expect_ok(me, ddp_reducer_layer_wait(r, layer, &used, &err), &err);
            check_layer(&toy, step, layer, used, me);
        }
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void expect_tree(int number, const ddp_reducer_config *config, int skips)
{
    struct job job = {.config = *config, .number = number, .skips = skips};

    open_want(&job);
    for (int size = 1; size <= RANKS_MAX && size <= number; size *= 2)
        ranks_run(size, take_steps, &job);
    close_want(&job);
}

static void sum_is_the_tree_over_mini_batches_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (int number = 1; number <= MOST_MINI_BATCHES; number *= 2)
        expect_tree(number, &configs[number % CONFIGS], 0);
}

static void buckets_overlap_and_deferral_change_no_bit(void **state)
{
    (void)state;
    for (int c = 0; c < CONFIGS; c++)
        expect_tree(8, &configs[c], 0);
}

static void layers_that_skip_mini_batches_add_zero(void **state)
{
    (void)state;
    for (int number = 1; number <= 16; number *= 2)
        for (int c = 0; c < CONFIGS; c++)
            expect_tree(number, &configs[c], 1);
}

static ddp_group *solo(void)
{
    ddp_group *g;
    ddp_error err;

    if (ddp_group_open(&g, "solo", &err))
        fail_msg("%s", err.text);
    return g;
}

static ddp_reducer *open_solo(ddp_group *g, struct toy *toy, int mini_batches)
{
    ddp_reducer_config config = configs[0];
    ddp_reducer *r;
    ddp_error err;

    config.mini_batches = mini_batches;
    toy_open(toy, 0);
    if (ddp_reducer_open(&r, g, &toy->table, &config, &err))
        fail_msg("%s", err.text);
    return r;
}

static void gradients_of_a_step_that_was_cut_short_are_given_back(void **state)
{
    ddp_group *g = solo();
    struct toy toy;
    ddp_reducer *r = open_solo(g, &toy, 8);
    ddp_error err;

    (void)state;
    for (int i = 0; i < 7; i++) {
        ddp_reducer_backward_begin(r, 0);
        toy.gradients[0][3] += (float)(1 << i);
        assert_int_equal(ddp_reducer_layer_ready(r, 1, &err), DDP_OK);
        assert_int_equal(ddp_reducer_backward_end(r, &err), DDP_OK);
        assert_number_equal(toy.gradients[0][3], 0);
    }
    assert_at_least(ddp_reducer_tree_bytes(r), (size_t)3 * 9743 * sizeof(float));
    ddp_reducer_close(r);
    assert_ptr_equal(toy.gradients[0], toy.memory[0]);
    assert_number_equal(toy.memory[0][3], 127);
    toy_close(&toy);
    ddp_group_close(g);
}

static void step_that_syncs_early_sums_what_there_is(void **state)
{
    ddp_group *g = solo();
    struct toy toy;
    ddp_reducer *r = open_solo(g, &toy, 8);
    ddp_error err;
    int used;

    (void)state;
    for (int passes = 1; passes <= 8; passes++) {
        for (int i = 0; i < passes; i++) {
            ddp_reducer_backward_begin(r, i == passes - 1);
            toy.gradients[0][3] += (float)(1 << i);
            assert_int_equal(ddp_reducer_layer_ready(r, 1, &err), DDP_OK);
            assert_int_equal(ddp_reducer_backward_end(r, &err), DDP_OK);
        }
        for (int layer = 0; layer < TOY_LAYERS; layer++)
            assert_int_equal(ddp_reducer_layer_wait(r, layer, &used, &err), DDP_OK);
        if (toy.gradients[0][3] != (float)((1 << passes) - 1))
            fail_msg("%d passes: %g", passes, (double)toy.gradients[0][3]);
        toy.gradients[0][3] = 0;
    }
    ddp_reducer_close(r);
    toy_close(&toy);
    ddp_group_close(g);
}

static void longer_step_is_refused(void **state)
{
    ddp_group *g = solo();
    struct toy toy;
    ddp_reducer *r = open_solo(g, &toy, 2);
    ddp_error err;

    (void)state;
    ddp_reducer_backward_begin(r, 0);
    assert_int_equal(ddp_reducer_backward_end(r, &err), DDP_OK);
    ddp_reducer_backward_begin(r, 0);
    assert_int_equal(ddp_reducer_layer_ready(r, 1, &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, "mini-batch 2 of a step of 2 does not sync");
    assert_int_equal(ddp_reducer_backward_end(r, &err), DDP_ERR_USAGE);
    ddp_reducer_close(r);
    toy_close(&toy);
    ddp_group_close(g);
}

static void tree_of_three_is_refused(void **state)
{
    float block[4] = {0};
    ddp_tree_sum *t;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_tree_sum_open(&t, ddp_device_host(), block, 4, 3, &err), DDP_ERR_USAGE);
    assert_null(t);
    assert_string_equal(err.text, "a tree of 3 mini-batches: no power of two");
    ddp_tree_sum_close(t);
}

static void missing_memory_is_told_in_mib(void **state)
{
    float block[1] = {0};
    ddp_tree_sum *t;
    ddp_error err;

    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* they end the process instead */
#endif
    assert_int_equal(ddp_tree_sum_open(&t, ddp_device_host(), block, (size_t)1 << 58, 4, &err),
                     DDP_ERR_NOMEM);
    assert_null(t);
    assert_string_equal(
        err.text, "no memory for the 2199023255552 MiB of partial sums that an exact run keeps "
                  "of 4 mini-batches a rank; fewer of them need less");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_is_the_tree_over_mini_batches_on_any_number_of_ranks),
        cmocka_unit_test(buckets_overlap_and_deferral_change_no_bit),
        cmocka_unit_test(layers_that_skip_mini_batches_add_zero),
        cmocka_unit_test(gradients_of_a_step_that_was_cut_short_are_given_back),
        cmocka_unit_test(step_that_syncs_early_sums_what_there_is),
        cmocka_unit_test(longer_step_is_refused),
        cmocka_unit_test(tree_of_three_is_refused),
        cmocka_unit_test(missing_memory_is_told_in_mib),
    };

    return cmocka_run_group_tests_name("reducer tree", tests, NULL, NULL);
}
