/* Top-k (topk.c, top_k.h) on 2 to 4 ranks, bit for bit its definition
 * (compressed.h).
 */
#include "algorithms/topk/tests/topk_net.h"
#include "algorithms/topk/top_k.h"
#include "unit/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const struct compressed_net *const net = &compressed_top_k;

struct job {
    const ddp_reducer_config *config;
    struct compressed_model *models; /* of each rank, so that they compute side by side */
    float *results;
};

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;

    compressed_take_steps(me, net, ddp_device_host(), job->config, 0, &job->models[me->rank],
                          job->results + (size_t)me->rank * COMPRESSED_RESULTS);
}

static void it_is_its_definition_whatever_the_buckets(void **state)
{
    struct compressed_model *models = calloc(COMPRESSED_RANKS, sizeof *models);
    float *results = calloc(COMPRESSED_RANKS, COMPRESSED_RESULTS * sizeof *results);

    (void)state;
    assert_non_null(models);
    assert_non_null(results);
    for (int size = 2; size <= COMPRESSED_RANKS; size++)
        for (size_t c = 0; c < COMPRESSED_CONFIGS; c++) {
            struct job job = {
                .config = &compressed_configs[c], .models = models, .results = results};

            ranks_run(size, take_steps, &job);
        }
    free(models);
    free(results);
}

static void one_that_is_no_number_is_told_and_seen_by_all(struct rank *me)
{
    struct compressed c;
    ddp_error err;
    size_t bucket;

    if (!compressed_open_reducer(&c, net, ddp_device_host(), &compressed_configs[0], me))
        return;
    ddp_reducer_backward_begin(c.reducer, 1);
    if (me->rank == 1)
        c.gradients[1][77] = NAN;
    for (int layer = net->layers - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_ready(c.reducer, layer, &err), &err);
    rank_expect_ok(me, ddp_reducer_backward_end(c.reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(c.reducer, &err), &err);
    if (ddp_reducer_finite(c.reducer, &bucket))
        rank_wrong(me, "a number that is none was not seen");
    ddp_reducer_drop(c.reducer);
    for (size_t i = 0; i < compressed_count(net, 1); i++)
        if (fpclassify(compressed_memory(&c, 1).error[i]) != FP_ZERO)
            rank_wrong(me, "error [%zu] is not zero", i);
    rank_meet(me);
    compressed_close(&c);
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

/* As the first number of a piece becomes where a sum is not finite. */
static void a_place_that_is_none_is_passed_over(void **state)
{
    const float told[4] = {5, 6, NAN, 1}, far[4] = {5, 6, 1, 3}, before[4] = {5, 6, -1, INFINITY};
    float x[3] = {1, 1, 1};

    (void)state;
    ddp_top_k_add(x, told, 3, 50);
    ddp_top_k_add(x, far, 3, 50);
    ddp_top_k_add(x, before, 3, 50);
    assert_memory_equal(x, ((const float[]){1, 12, 1}), sizeof x);
    ddp_top_k_clear(x, told, 3, 50);
    ddp_top_k_clear(x, before, 3, 50);
    assert_memory_equal(x, ((const float[]){1, 0, 1}), sizeof x);
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
        assert_number_equal(fpclassify(x[i]), FP_ZERO);
    ddp_top_k_add(x, told, count, percent);
    assert_greater(x[section - 1], 4);
    assert_less(x[section + 99], -5);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_taken_and_of_equal_ones_the_first),
        cmocka_unit_test(a_place_that_is_none_is_passed_over),
        cmocka_unit_test(a_long_array_is_told_in_sections),
        cmocka_unit_test(it_is_its_definition_whatever_the_buckets),
        cmocka_unit_test(what_is_no_number_is_seen_and_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
