/* ddp-test: quick */
/* Philox to the published vectors; what a draw depends on, and what it does not. */
#include "base/random.h"
#include "numbers.h"

#include "base/philox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const uint64_t seed = 0x0123456789abcdef;

/* The rows "philox4x32 10" of tests/kat_vectors in Random123 1.14: counter, key, block. */
static void philox_gives_the_published_vectors(void **state)
{
    static const uint32_t rows[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        uint32_t block[4];

        ddp_philox(rows[i], rows[i] + 4, block);
        assert_memory_equal(block, rows[i] + 6, sizeof block);
    }
}

static void philox_may_write_over_its_counter(void **state)
{
    uint32_t counter[4] = {1, 2, 3, 4};
    const uint32_t key[2] = {5, 6};
    uint32_t block[4];

    (void)state;
    ddp_philox(counter, key, block);
    ddp_philox(counter, key, counter);
    assert_memory_equal(block, counter, sizeof block);
}

/* A changed layout of the counter would change every run. */
static void draws_keep_their_values(void **state)
{
    static const uint32_t want[] = {0x0edcb8dc, 0x3e257f2e, 0xb91aa493, 0xd11cac0e,
                                    0x6db1cb23, 0x44c36775, 0x8e88372b, 0x9783601c};
    static const uint32_t last[] = {0x7d1adefb, 0x90273d10, 0x89219c66, 0x01b45a0e};
    ddp_random r;

    (void)state;
    ddp_random_init(&r, seed, ddp_random_topic(3, 5), 9);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(ddp_random_next(&r), want[i]);
    ddp_random_init(&r, seed, ddp_random_topic(255, -1), UINT64_MAX);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        assert_int_equal(ddp_random_next(&r), last[i]);
}

static void a_stream_is_its_blocks_in_turn(void **state)
{
    ddp_random r;

    (void)state;
    ddp_random_init(&r, seed, ddp_random_topic(1, 2), 3);
    for (uint32_t b = 0; b < 100; b++) {
        uint32_t block[4];

        ddp_random_block(seed, ddp_random_topic(1, 2), 3, b, block);
        for (int i = 0; i < 4; i++)
            assert_int_equal(ddp_random_next(&r), block[i]);
    }
}

static uint64_t first_of(uint64_t s, unsigned purpose, int detail, uint64_t number)
{
    ddp_random r;
    uint64_t high;

    ddp_random_init(&r, s, ddp_random_topic(purpose, detail), number);
    high = ddp_random_next(&r);
    return high << 32 | ddp_random_next(&r);
}

static void each_part_of_a_draws_name_matters(void **state)
{
    const uint64_t draws[] = {
        first_of(seed, 1, 2, 3),
        first_of(seed + 1, 1, 2, 3),
        first_of(seed + (1ULL << 32), 1, 2, 3),
        first_of(seed, 2, 2, 3),
        first_of(seed, 1, 3, 3),
        first_of(seed, 1, 2 + (1 << 16), 3),
        first_of(seed, 1, 2, 4),
        first_of(seed, 1, 2, 3 + (1ULL << 32)),
        first_of(seed, 2, 1, 3),
        first_of(seed, DDP_PURPOSE_OWN, 2, 3),
    };
    size_t count = sizeof draws / sizeof *draws;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(draws[i] != draws[j]);
    }
    assert_number_equal(first_of(seed, 1, 2, 3), draws[0]);
}

static void units_fill_0_to_1_evenly(void **state)
{
    enum { BINS = 16, DRAWS = 1 << 16 };
    int bins[BINS] = {0};
    ddp_random r;

    (void)state;
    ddp_random_init(&r, seed, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        float unit = ddp_random_unit(&r);

        assert_at_least(unit, 0);
        assert_less(unit, 1);
        bins[(int)(unit * BINS)]++;
    }
    /* 4096 each; 400 is more than six standard deviations. */
    for (int i = 0; i < BINS; i++)
        assert_in_range(bins[i], 4096 - 400, 4096 + 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_vectors),
        cmocka_unit_test(philox_may_write_over_its_counter),
        cmocka_unit_test(draws_keep_their_values),
        cmocka_unit_test(a_stream_is_its_blocks_in_turn),
        cmocka_unit_test(each_part_of_a_draws_name_matters),
        cmocka_unit_test(units_fill_0_to_1_evenly),
    };

    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
