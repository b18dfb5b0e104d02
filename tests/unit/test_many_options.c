/* ddp-test: quick */
/* However many options there are, ranks compare all of them: the program's code of the table over
 * another table, many_options/options/options.def, of 100. */
#include "options/list.c" /* NOLINT: it includes the table */

#include "core/agree.h"
#include "options/options.h"
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { COUNT = 100 };

static void each_option_has_its_line(void **state)
{
    const ddp_options o = {.option_00 = 2, .option_99 = 3};
    char *text = ddp_options_agreement(&o, 0);
    ddp_option_value values[DDP_OPTION_ROWS];
    int lines = 0;

    (void)state;
    assert_non_null(text);
    assert_int_equal(ddp_options_list(&o, DDP_OPTION_AGREE, 0, 0, values), COUNT);
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        lines++;
    assert_int_equal(lines, COUNT + 1);
    assert_true(strlen(text) > 2048);
    assert_non_null(strstr(text, "\n-ddp_option_of_many_on_which_ranks_agree_00 2\n"));
    assert_non_null(strstr(text, "\n-ddp_option_of_many_on_which_ranks_agree_99 3\n"));
    free(text);
}

static void agree(struct rank *me)
{
    const ddp_options o = {.option_99 = me->rank == 2 ? 4 : 3};
    char *text = ddp_options_agreement(&o, 0), want[512];
    ddp_error err = {0};
    ddp_status st;

    if (!text) {
        rank_wrong(me, "no text");
        return;
    }
    st = ddp_agree(me->group, text, &err);
    (void)snprintf(want, sizeof want,
                   "rank 2 on %s differs from ranks 0, 1 on %s: it has "
                   "'-ddp_option_of_many_on_which_ranks_agree_99 4', not "
                   "'-ddp_option_of_many_on_which_ranks_agree_99 3'",
                   ddp_group_host(me->group, 2), ddp_group_host(me->group, 0));
    rank_expect_error(me, st, &err, DDP_ERR_MISMATCH, want);
    free(text);
}

static void ranks_that_differ_in_the_last_option_are_named(void **state)
{
    (void)state;
    ranks_run(3, agree, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_has_its_line),
        cmocka_unit_test(ranks_that_differ_in_the_last_option_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
