/* ddp-test: quick */
/* Every epoch is a permutation, of its own, well shuffled, and stays what it is. */
#include "../unit/numbers.h"
#include "samples/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MILLION = 1000000 };

static void expect_permutation(uint64_t seed, uint64_t epoch, size_t count)
{
    unsigned char *seen = calloc(count, 1);

    assert_non_null(seen);
    for (size_t i = 0; i < count; i++) {
        size_t line = ddp_sampler_permuted_line(seed, epoch * count + i, count);

        if (line >= count || seen[line])
            fail_msg("sample %zu of epoch %llu of %zu lines is line %zu, which %s", i,
                     (unsigned long long)epoch, count, line,
                     line < count ? "came before" : "does not exist");
        seen[line] = 1;
    }
    free(seen);
}

static void every_epoch_has_every_line_once(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 100; count++) {
        for (uint64_t epoch = 0; epoch < 20; epoch++)
            expect_permutation(count % 7, epoch, count);
        expect_permutation(1, UINT64_MAX / count - 1, count);
    }
    for (size_t count = 1000; count < 1030; count++)
        expect_permutation(3, 2, count);
    expect_permutation(5, 1, (1 << 17) + 1);
}

static void long_lists_are_permuted_too(void **state)
{
    static const size_t counts[] = {MILLION, 1 << 20, (1 << 20) + 1};

    (void)state;
    for (int i = 0; i < 3; i++)
        expect_permutation(7, 3, counts[i]);
}

static void lists_of_any_length_are_served(void **state)
{
    static const size_t counts[] = {INT32_MAX, UINT32_MAX, (size_t)UINT32_MAX + 1, SIZE_MAX - 1,
                                    SIZE_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t high = 0;

        for (uint64_t g = 0; g < 200; g++) {
            size_t line = ddp_sampler_permuted_line(1, g, counts[i]);

            assert_less(line, counts[i]);
            high += line > counts[i] / 2;
        }
        assert_in_range(high, 60, 140);
    }
}

/* Lines that the epochs with these two seeds have at the same position; 1 is expected. */
static size_t meetings(uint64_t seed_a, uint64_t epoch_a, uint64_t seed_b, uint64_t epoch_b)
{
    enum { LINES = 1000 };
    size_t same = 0;

    for (uint64_t i = 0; i < LINES; i++)
        same += ddp_sampler_permuted_line(seed_a, epoch_a * LINES + i, LINES)
                == ddp_sampler_permuted_line(seed_b, epoch_b * LINES + i, LINES);
    return same;
}

static void epochs_and_seeds_have_orders_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(meetings(1, 0, 1, 0), 1000);
    assert_in_range(meetings(1, 0, 1, 1), 0, 10);
    assert_in_range(meetings(1, 0, 1, 1ULL << 32), 0, 10);
    assert_in_range(meetings(1, 0, 2, 0), 0, 10);
    assert_in_range(meetings(1, 0, 1 + (1ULL << 32), 0), 0, 10);
    assert_in_range(meetings(1, 1, 2, 0), 0, 10);
}

static void a_batch_spans_two_epochs(void **state)
{
    enum { LINES = 10, BATCH = 4 };
    int drawn[LINES] = {0};

    (void)state;
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < BATCH; k++)
            drawn[ddp_sampler_permuted_line(9, (uint64_t)(step * BATCH + k), LINES)]++;
        if (step == 2) { /* 12 samples: all lines, and two of them again */
            int twice = 0;

            for (int i = 0; i < LINES; i++) {
                assert_in_range(drawn[i], 1, 2);
                twice += drawn[i] == 2;
            }
            assert_int_equal(twice, 2);
        }
    }
    for (int i = 0; i < LINES; i++)
        assert_int_equal(drawn[i], 2);
}

/* Sum of (got - want)^2 / want; with d degrees of freedom about d, and its deviation
 * about sqrt(2 d). */
static double chi_square(const int *got, int cells, double want)
{
    double sum = 0;

    for (int i = 0; i < cells; i++)
        sum += (got[i] - want) * (got[i] - want) / want;
    return sum;
}

static void every_line_gets_every_position_equally_often(void **state)
{
    enum { MOST = 16, EPOCHS = 4000 };

    (void)state;
    for (int count = 2; count <= MOST; count++) {
        int met[MOST * MOST] = {0};
        double free_cells = (count - 1) * (count - 1);
        double chi;

        for (int g = 0; g < EPOCHS * count; g++)
            met[(g % count) * count
                + (int)ddp_sampler_permuted_line(11, (uint64_t)g, (size_t)count)]++;
        chi = chi_square(met, count * count, (double)EPOCHS / count);
        if (chi > free_cells + 20 + 3 * free_cells / 4)
            fail_msg("%d lines: chi-square %.1f of %.0f", count, chi, free_cells);
    }
}

/* Which of the orders of `count` lines epoch e is, as a number in base count. */
static int order_of(uint64_t epoch, int count)
{
    int order = 0;

    for (int i = 0; i < count; i++)
        order = order * count
                + (int)ddp_sampler_permuted_line(13, epoch * (uint64_t)count + (uint64_t)i,
                                                 (size_t)count);
    return order;
}

static void every_order_of_a_short_list_is_as_likely(void **state)
{
    static const struct {
        int count, orders;
        double most; /* five standard deviations above the degrees of freedom, or more */
    } cases[] = {{2, 2, 16}, {3, 6, 25}, {4, 24, 60}, {5, 120, 200}};
    enum { EPOCHS_AN_ORDER = 300, CODES = 5 * 5 * 5 * 5 * 5 };

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int met[CODES] = {0};
        int found[120];
        int orders = 0;
        double chi;

        for (int e = 0; e < EPOCHS_AN_ORDER * cases[c].orders; e++)
            met[order_of((uint64_t)e, cases[c].count)]++;
        for (int i = 0; i < CODES; i++) {
            if (met[i] && orders < cases[c].orders)
                found[orders++] = met[i];
        }
        assert_int_equal(orders, cases[c].orders);
        chi = chi_square(found, orders, EPOCHS_AN_ORDER);
        if (chi > cases[c].most)
            fail_msg("%d lines: chi-square %.1f, at most %.0f expected", cases[c].count, chi,
                     cases[c].most);
    }
}

static void neighbours_do_not_stay_together(void **state)
{
    enum { LINES = 100000 };
    size_t last = ddp_sampler_permuted_line(17, 0, LINES);
    int close = 0;

    (void)state;
    for (uint64_t g = 1; g < LINES; g++) {
        size_t line = ddp_sampler_permuted_line(17, g, LINES);
        size_t apart = line > last ? line - last : last - line;

        close += apart <= 500; /* 1 % of them are */
        last = line;
    }
    assert_in_range(close, 800, 1200);
}

/* Resumed runs rely on the order: it must never change. The values are those of a
 * second implementation in another language. */
static void the_order_is_what_it_always_was(void **state)
{
    static const size_t ten[] = {0, 3, 4, 7, 9, 5, 8, 2, 6, 1, 0, 8, 7, 2, 1, 4, 6, 9, 5, 3};
    static const struct {
        uint64_t number;
        size_t line;
    } million[] = {
        {0, 209042},       {1, 630513},       {2, 130743},          {3, 600771},
        {1000000, 254571}, {1000001, 363251}, {5ULL << 40, 487729}, {(5ULL << 40) + 1, 605148}};

    (void)state;
    for (size_t g = 0; g < sizeof ten / sizeof *ten; g++)
        assert_int_equal(ddp_sampler_permuted_line(7, g, 10), ten[g]);
    for (size_t i = 0; i < sizeof million / sizeof *million; i++)
        assert_int_equal(ddp_sampler_permuted_line(0x0123456789abcdef, million[i].number, MILLION),
                         million[i].line);
}

static void draws_with_replacement_keep_their_values(void **state)
{
    static const size_t want[] = {636285, 195295, 479356, 486177};

    (void)state;
    for (size_t g = 0; g < sizeof want / sizeof *want; g++)
        assert_int_equal(ddp_sampler_drawn_line(0x0123456789abcdef, g, MILLION), want[g]);
    assert_int_equal(ddp_sampler_drawn_line(0x0123456789abcdef, 5ULL << 40, MILLION), 916632);
}

static void draws_with_replacement_are_uniform(void **state)
{
    enum { LINES = 50, DRAWS = 50000 };
    int met[LINES] = {0};
    int again = 0;
    size_t last = LINES;

    (void)state;
    for (uint64_t g = 0; g < DRAWS; g++) {
        size_t line = ddp_sampler_drawn_line(19, g, LINES);

        assert_less(line, LINES);
        again += line == last;
        met[line]++;
        last = line;
    }
    assert_less(chi_square(met, LINES, (double)DRAWS / LINES), 49 + 50);
    assert_in_range(again, 840, 1160); /* 1 in 50 */
    assert_int_equal(ddp_sampler_drawn_line(19, 7, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_has_every_line_once),
        cmocka_unit_test(long_lists_are_permuted_too),
        cmocka_unit_test(lists_of_any_length_are_served),
        cmocka_unit_test(epochs_and_seeds_have_orders_of_their_own),
        cmocka_unit_test(a_batch_spans_two_epochs),
        cmocka_unit_test(every_line_gets_every_position_equally_often),
        cmocka_unit_test(every_order_of_a_short_list_is_as_likely),
        cmocka_unit_test(neighbours_do_not_stay_together),
        cmocka_unit_test(the_order_is_what_it_always_was),
        cmocka_unit_test(draws_with_replacement_keep_their_values),
        cmocka_unit_test(draws_with_replacement_are_uniform),
    };

    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
