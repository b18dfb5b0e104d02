/* The order of a plan's sums, against orders written by hand, and how it follows the line. */
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
                    assert_int_equal(ddp_launch_order_number(o, ddp_launch_order_nth(o, n)), n);
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

/* Steps on a line that carries so much while backward runs, of `all`. Returns what goes early. */
static size_t follow(size_t all, size_t line, size_t early, int steps)
{
    for (int i = 0; i < steps; i++) {
        size_t goes = early < all ? early : all;

        early = ddp_launch_order_adapt(all, goes, goes > line ? goes - line : 0);
    }
    return early < all ? early : all;
}

static void early_follows_the_line_and_leaves_it_a_little(void **state)
{
    const size_t all = 25 * (size_t)MILLION, left = (4 << 20) / 4;

    (void)state;
    assert_int_equal(follow(all, 10 * MILLION, all, 1), 10 * MILLION + left);
    assert_int_equal(follow(all, 10 * MILLION, all, 20), 10 * MILLION + left);
    assert_int_equal(follow(all, 10 * MILLION, 0, 20), 10 * MILLION + left);
    assert_int_equal(follow(all, 0, all, 20), left);
    assert_int_equal(follow(all, all, 0, 40), all);
    assert_int_equal(follow(8000, 4000, 8000, 3), 5000);
    assert_int_equal(ddp_launch_order_adapt(8000, 10, 5000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_goes_from_the_first_layers_to_the_last),
        cmocka_unit_test(number_undoes_nth),
        cmocka_unit_test(sum_that_the_limit_cuts_goes_early),
        cmocka_unit_test(early_follows_the_line_and_leaves_it_a_little),
    };

    return cmocka_run_group_tests_name("launch_order", tests, NULL, NULL);
}
