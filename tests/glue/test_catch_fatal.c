/* ddp-test: quick */
/* layers/catch_fatal.h: what Darknet's fatal() says is given back, within attempts, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/catch_fatal.h"

#include <utils.h>

static void return_alone(void *reached)
{
    *(int *)reached = 1;
}

static void refuse(void *reached)
{
    fatal("%s: refused", "x.cfg");
    *(int *)reached = 1;
}

/* Fails within an attempt, and then by itself. */
static void refuse_twice(void *inner)
{
    int reached = 0;

    assert_int_equal(catch_fatal(refuse, &reached, inner, 64), 0);
    fatal("the second time");
}

static void work_that_returns_has_said_nothing(void **state)
{
    char why[64] = "-";
    int reached = 0;

    (void)state;
    assert_int_equal(catch_fatal(return_alone, &reached, why, sizeof why), 1);
    assert_int_equal(reached, 1);
    assert_string_equal(why, "-");
}

static void a_sentence_is_given_back_and_cut_to_its_room(void **state)
{
    char why[64], less[6];
    int reached = 0;

    (void)state;
    assert_int_equal(catch_fatal(refuse, &reached, why, sizeof why), 0);
    assert_string_equal(why, "x.cfg: refused");
    assert_int_equal(catch_fatal(refuse, &reached, less, sizeof less), 0);
    assert_string_equal(less, "x.cfg");
    assert_int_equal(reached, 0);
}

static void an_attempt_within_another_leaves_it_in_place(void **state)
{
    char inner[64], outer[64];

    (void)state;
    assert_int_equal(catch_fatal(refuse_twice, inner, outer, sizeof outer), 0);
    assert_string_equal(inner, "x.cfg: refused");
    assert_string_equal(outer, "the second time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_returns_has_said_nothing),
        cmocka_unit_test(a_sentence_is_given_back_and_cut_to_its_room),
        cmocka_unit_test(an_attempt_within_another_leaves_it_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
