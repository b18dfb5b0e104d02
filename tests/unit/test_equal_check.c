/* ddp-test: quick */
/* Ranks check whether all have the same number, by sums of floats. */
#include "core/equal_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void add_number(float *sums, uint64_t number, int times)
{
    float sent[DDP_EQUAL_FLOATS];

    ddp_equal_check_write(sent, number);
    for (int i = 0; i < DDP_EQUAL_FLOATS; i++)
        for (int k = 0; k < times; k++)
            sums[i] += sent[i];
}

static int same(const uint64_t *numbers, int ranks)
{
    float sums[DDP_EQUAL_FLOATS] = {0};

    for (int r = 0; r < ranks; r++)
        add_number(sums, numbers[r], 1);
    return ddp_equal_check_read(sums, ranks);
}

static void any_number_is_the_same_as_itself(void **state)
{
    const uint64_t numbers[] = {0, 1, 63, 64, UINT64_MAX, 0x0123456789abcdef};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (int ranks = 1; ranks <= DDP_EQUAL_RANKS; ranks = ranks * 3 + 1) {
            float sums[DDP_EQUAL_FLOATS] = {0};

            add_number(sums, numbers[i], ranks);
            assert_true(ddp_equal_check_read(sums, ranks));
        }
    }
}

static void each_bit_counts(void **state)
{
    const uint64_t number = 0x0123456789abcdef;

    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        const uint64_t two[] = {number, number ^ ((uint64_t)1 << bit)};
        const uint64_t four[] = {number, number, two[1], number};

        assert_false(same(two, 2));
        assert_false(same(four, 4));
    }
}

/* The mean of what three ranks have is what one of them has. */
static void numbers_that_cancel_are_not_the_same(void **state)
{
    const uint64_t numbers[] = {10, 9, 11}, far[] = {32, 0, 63, 33};

    (void)state;
    assert_false(same(numbers, 3));
    assert_false(same(far, 4));
}

static void one_rank_of_the_most_is_found(void **state)
{
    float sums[DDP_EQUAL_FLOATS] = {0};

    (void)state;
    add_number(sums, UINT64_MAX - 1, DDP_EQUAL_RANKS - 1);
    add_number(sums, UINT64_MAX - 3, 1);
    assert_false(ddp_equal_check_read(sums, DDP_EQUAL_RANKS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_is_the_same_as_itself),
        cmocka_unit_test(each_bit_counts),
        cmocka_unit_test(numbers_that_cancel_are_not_the_same),
        cmocka_unit_test(one_rank_of_the_most_is_found),
    };

    return cmocka_run_group_tests_name("same", tests, NULL, NULL);
}
