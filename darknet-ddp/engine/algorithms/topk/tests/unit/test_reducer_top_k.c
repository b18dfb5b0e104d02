/* ddp-test: quick tsan */
/* Tests of top-k: of the functions of top_k.h and, on 2 to 4 ranks, that topk.c has the same
 * bits as the definition in topk_net.h, and that a dropped step changes nothing. */
#include "algorithms/topk/tests/topk_net.h"
#include "algorithms/topk/top_k.h"
#include "unit/compressed_checks.h"
#include "unit/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const struct compressed_net *const net = &compressed_top_k;

static void it_is_its_definition(void **state)
{
    (void)state;
    compressed_is_its_definition(net);
}

static void steps_that_are_dropped_leave_nothing(void **state)
{
    (void)state;
    compressed_drops_leave_nothing(net);
}

static void the_largest_are_taken_and_of_equal_ones_the_first(void **state)
{
    const float x[8] = {1, -3, 2, 3, -0.0F, 3, INFINITY, 2}, nothing[3] = {0, 0, 0};
    float selected[10], back[8] = {0};

    (void)state;
    assert_int_equal(ddp_top_k_numbers(8, 50), 8);
    assert_int_equal(ddp_top_k_numbers(8, 51), 10);
    assert_int_equal(ddp_top_k_numbers(1, 0.001), 2);
    assert_int_equal(ddp_top_k_numbers(0, 1), 0);
    ddp_top_k_select(selected, x, 8, 37.5);
    assert_memory_equal(selected, ((const float[]){-3, 3, INFINITY, 1, 3, 6}), 6 * sizeof(float));
    ddp_top_k_select(selected, x, 8, 62.5);
    assert_memory_equal(selected, ((const float[]){-3, 2, 3, 3, INFINITY, 1, 2, 3, 5, 6}),
                        sizeof selected);
    ddp_top_k_add(back, selected, 8, 62.5);
    ddp_top_k_add(back, selected, 8, 62.5);
    assert_memory_equal(back, ((const float[]){0, -6, 4, 6, 0, 6, INFINITY, 0}), sizeof back);
    ddp_top_k_clear(back, selected, 8, 62.5);
    assert_memory_equal(back, ((const float[]){0, 0, 0, 0, 0, 0, 0, 0}), sizeof back);
    ddp_top_k_select(selected, nothing, 3, 25);
    assert_memory_equal(selected, ((const float[]){0, 0}), 2 * sizeof(float));
}

/* A place is NaN or infinite where a sum is not finite, as the first number of a piece becomes. */
static void a_place_that_is_none_is_passed_over(void **state)
{
    const float selected[4] = {5, 6, NAN, 1}, far[4] = {5, 6, 1, 3},
                before[4] = {5, 6, -1, INFINITY};
    float x[3] = {1, 1, 1};

    (void)state;
    ddp_top_k_add(x, selected, 3, 50);
    ddp_top_k_add(x, far, 3, 50);
    ddp_top_k_add(x, before, 3, 50);
    assert_memory_equal(x, ((const float[]){1, 12, 1}), sizeof x);
    ddp_top_k_clear(x, selected, 3, 50);
    ddp_top_k_clear(x, before, 3, 50);
    assert_memory_equal(x, ((const float[]){1, 0, 1}), sizeof x);
}

/* The array has 2^24 elements and some. */
static void a_long_array_is_selected_in_sections(void **state)
{
    const size_t section = (size_t)1 << 24, count = section + 100;
    const double percent = 100.0 / (double)section; /* one of each */
    float *x = calloc(count, sizeof *x), selected[4];

    (void)state;
    assert_non_null(x);
    x[section - 1] = 5;
    x[section + 99] = -6;
    assert_int_equal(ddp_top_k_numbers(count, percent), 4);
    ddp_top_k_select(selected, x, count, percent);
    assert_memory_equal(selected, ((const float[]){5, 16777215, -6, 99}), sizeof selected);
    ddp_top_k_clear(x, selected, count, percent);
    for (size_t i = 0; i < count; i++)
        assert_number_equal(fpclassify(x[i]), FP_ZERO);
    ddp_top_k_add(x, selected, count, percent);
    assert_greater(x[section - 1], 4);
    assert_less(x[section + 99], -5);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_taken_and_of_equal_ones_the_first),
        cmocka_unit_test(a_place_that_is_none_is_passed_over),
        cmocka_unit_test(a_long_array_is_selected_in_sections),
        cmocka_unit_test(it_is_its_definition),
        cmocka_unit_test(steps_that_are_dropped_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
