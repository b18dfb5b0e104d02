/* ddp-test: quick */
/* The order of a plan's sums, against orders written by hand, and how it follows the
 * line. */
#include "core/launch_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { SUMS = 8, MILLION = 1000000 };

static void expect_order(ddp_launch_order o, const char *want)
{
    char got[64] = "";
    size_t at = 0;

    for (size_t n = 0; n < o.sums; n++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%zu",
                               n == 0                           ? ""
                               : n == ddp_launch_order_early(o) ? " | "
                                                                : " ",
                               ddp_launch_order_nth(o, n));
    assert_string_equal(got, want);
}

/* Sum 0 is of the last layers. Behind the bar stands what is launched when backward has ended. */
static void what_is_left_goes_from_the_first_layers_to_the_last(void **state)
{
    (void)state;
    expect_order((ddp_launch_order){.sums = 6}, "0 1 2 3 4 5");
    expect_order((ddp_launch_order){.sums = 6, .deferred = 2}, "2 3 4 5 | 1 0");
    expect_order((ddp_launch_order){.sums = 6, .late = 3}, "0 1 2 | 5 4 3");
    expect_order((ddp_launch_order){.sums = 6, .deferred = 2, .late = 1}, "2 3 4 | 5 1 0");
    expect_order((ddp_launch_order){.sums = 6, .deferred = 2, .late = 4}, "5 4 3 2 1 0");
    expect_order((ddp_launch_order){.sums = 1, .late = 1}, "0");
}

static void number_undoes_nth(void **state)
{
    (void)state;
    for (size_t sums = 0; sums <= SUMS; sums++)
        for (size_t deferred = 0; deferred <= sums; deferred++)
            for (size_t late = 0; late + deferred <= sums; late++) {
                ddp_launch_order o = {.sums = sums, .deferred = deferred, .late = late};

                for (size_t n = 0; n < sums; n++)
                    assert_int_equal(ddp_launch_order_place(o, ddp_launch_order_nth(o, n)), n);
            }
}

static void sum_that_the_limit_cuts_goes_early(void **state)
{
    static const size_t counts[] = {9, 3, 4, 5};
    static const struct {
        size_t early, late;
    } want[] = {{0, 3}, {1, 2}, {3, 2}, {4, 1}, {7, 1}, {8, 0}, {100, 0}};
    ddp_launch_order o = {.sums = 4, .deferred = 1};

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        ddp_launch_order_limit(&o, counts, want[i].early);
        assert_int_equal(o.late, want[i].late);
    }
}

enum { ALL = 25 * MILLION, LEFT = (4 << 20) / 4 };

/* Steps on a line that carries so much while backward runs, of `all`. Returns what goes early. */
static size_t follow(ddp_launch_history *history, size_t all, size_t line, size_t early, int steps)
{
    for (int i = 0; i < steps; i++) {
        size_t goes = early < all ? early : all;

        early = ddp_launch_order_adapt(history, all, goes, goes > line ? goes - line : 0);
    }
    return early < all ? early : all;
}

static size_t follow_anew(size_t all, size_t line, size_t early, int steps)
{
    ddp_launch_history history = {0};

    return follow(&history, all, line, early, steps);
}

static void early_follows_the_line_and_leaves_it_a_little(void **state)
{
    ddp_launch_history history = {0};

    (void)state;
    assert_int_equal(follow_anew(ALL, 10 * MILLION, ALL, 1), 10 * MILLION + LEFT);
    assert_int_equal(follow_anew(ALL, 10 * MILLION, ALL, 20), 10 * MILLION + LEFT);
    assert_int_equal(follow_anew(ALL, 10 * MILLION, 0, 20), 10 * MILLION + LEFT);
    assert_int_equal(follow_anew(ALL, 0, ALL, 20), LEFT);
    assert_int_equal(follow_anew(ALL, ALL, 0, 40), ALL);
    assert_int_equal(follow_anew(8000, 4000, 8000, 3), 5000);
    assert_int_equal(ddp_launch_order_adapt(&history, 8000, 10, 5000), 0);
}

/* A rank that is held up, or a line that others use: the line carries less, or more. */
static void one_odd_step_changes_nothing(void **state)
{
    static const size_t lines[] = {10 * MILLION, ALL, 2 * (size_t)ALL};
    static const size_t odd[] = {0, MILLION, 4 * (size_t)ALL};

    (void)state;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
            ddp_launch_history history = {0};
            size_t steady = follow(&history, ALL, lines[l], ALL, 5), early = steady;

            for (int turn = 0; turn < 3; turn++) {
                early = follow(&history, ALL, odd[o], early, 1);
                assert_int_equal(early, steady);
                for (int step = 0; step < 5; step++) {
                    early = follow(&history, ALL, lines[l], early, 1);
                    assert_int_equal(early, steady);
                }
            }
        }
}

static void lasting_change_is_followed_when_most_steps_have_seen_it(void **state)
{
    ddp_launch_history history = {0};
    size_t early = follow(&history, ALL, 20 * MILLION, ALL, 7);

    (void)state;
    early = follow(&history, ALL, 5 * MILLION, early, 2);
    assert_int_equal(early, 20 * MILLION + LEFT);
    early = follow(&history, ALL, 5 * MILLION, early, 1);
    assert_int_equal(early, 5 * MILLION + LEFT);
    assert_int_equal(follow(&history, ALL, 5 * MILLION, early, 20), 5 * MILLION + LEFT);
}

/* 92 MB more, of which a step may add 4 MiB at first. */
static void line_that_has_room_again_is_filled_in_a_few_steps(void **state)
{
    ddp_launch_history history = {0};
    size_t early = follow(&history, ALL, 0, ALL, 10);

    (void)state;
    assert_int_equal(early, LEFT);
    early = follow(&history, ALL, 20 * MILLION, early, 2);
    assert_int_equal(early, LEFT);
    early = follow(&history, ALL, 20 * MILLION, early, 1);
    assert_int_equal(early, 5 * LEFT);
    early = follow(&history, ALL, 20 * MILLION, early, 1);
    assert_int_equal(early, 13 * LEFT);
    early = follow(&history, ALL, 20 * MILLION, early, 1);
    assert_int_equal(early, ALL);
    early = follow(&history, ALL, 20 * MILLION, early, 1);
    assert_int_equal(early, 20 * MILLION + LEFT);
    assert_int_equal(follow(&history, ALL, 20 * MILLION, early, 20), 20 * MILLION + LEFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_goes_from_the_first_layers_to_the_last),
        cmocka_unit_test(number_undoes_nth),
        cmocka_unit_test(sum_that_the_limit_cuts_goes_early),
        cmocka_unit_test(early_follows_the_line_and_leaves_it_a_little),
        cmocka_unit_test(one_odd_step_changes_nothing),
        cmocka_unit_test(lasting_change_is_followed_when_most_steps_have_seen_it),
        cmocka_unit_test(line_that_has_room_again_is_filled_in_a_few_steps),
    };

    return cmocka_run_group_tests_name("launch_order", tests, NULL, NULL);
}
