/* What -ddp_exact accepts, and what it refuses, to the word. */
#include "core/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MOST_BATCH = 96, MOST_RANKS = 17 };

static ddp_exact_run run_of(int batch, int subdivisions, int ranks)
{
    return (ddp_exact_run){.batch = batch,
                           .subdivisions = subdivisions,
                           .ranks = ranks,
                           .mode = DDP_BATCH_GLOBAL,
                           .sync_every = 1,
                           .broadcast_buffers = 1};
}

static void expect_refusal(ddp_exact_run run, const char *want)
{
    ddp_error err = {0};

    assert_int_equal(ddp_exact_check(&run, &err), DDP_ERR_USAGE);
    assert_string_equal(err.text, want);
}

static void ranks_that_are_too_many_or_no_power_of_two_are_refused(void **state)
{
    (void)state;
    expect_refusal(run_of(64, 4, 3), "-ddp_exact with 3 ranks: use 1, 2 or 4 for the cfg's 4 "
                                     "subdivisions");
    expect_refusal(run_of(64, 4, 8), "-ddp_exact with 8 ranks: use 1, 2 or 4 for the cfg's 4 "
                                     "subdivisions, or set subdivisions=8");
    expect_refusal(run_of(4, 4, 8), "-ddp_exact with 8 ranks: use 1, 2 or 4 for the cfg's 4 "
                                    "subdivisions");
    expect_refusal(run_of(64, 1, 2), "-ddp_exact with 2 ranks: use 1 for the cfg's 1 subdivision, "
                                     "or set subdivisions=2");
    expect_refusal(run_of(96, 2, 6), "-ddp_exact with 6 ranks: use 1 or 2 for the cfg's 2 "
                                     "subdivisions");
}

static void subdivisions_that_are_no_power_of_two_are_refused(void **state)
{
    (void)state;
    expect_refusal(run_of(96, 6, 2), "-ddp_exact wants a power of two for subdivisions, not 6; "
                                     "subdivisions=4 or subdivisions=8 would work");
    expect_refusal(run_of(12, 6, 1), "-ddp_exact wants a power of two for subdivisions, not 6; "
                                     "subdivisions=4 would work");
    expect_refusal(run_of(96, 6, 8), "-ddp_exact wants a power of two for subdivisions, not 6; "
                                     "subdivisions=8 would work");
    expect_refusal(run_of(96, 3, 3), "-ddp_exact wants a power of two for subdivisions, not 3; "
                                     "subdivisions=2 or subdivisions=4 with 2 ranks would work");
    expect_refusal(run_of(15, 5, 4), "-ddp_exact wants a power of two for subdivisions, not 5; "
                                     "subdivisions=1 with 1 rank would work");
}

static void other_options_that_change_the_sum_are_refused(void **state)
{
    ddp_exact_run run = run_of(64, 4, 2);

    (void)state;
    run.mode = DDP_BATCH_RANK;
    expect_refusal(run, "-ddp_exact works with -ddp_batch global, not rank");
    run = run_of(64, 4, 2);
    run.sync_every = 3;
    expect_refusal(run, "-ddp_exact works with -ddp_sync_every 1, not 3");
    run = run_of(64, 4, 2);
    run.broadcast_buffers = 0;
    expect_refusal(run, "-ddp_exact works with -ddp_broadcast_buffers step, not save");
}

static int is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Every "subdivisions=S", with "with N ranks" if that is said, and every "use N". */
static void try_suggestions(ddp_exact_run run, const char *text)
{
    const char *with = strstr(text, " with "), *use = strstr(text, "use ");
    int suggested = 0;
    ddp_error err;

    if (with && !use)
        run.ranks = (int)strtol(with + strlen(" with "), NULL, 10);
    for (const char *at = strstr(text, "subdivisions="); at; at = strstr(at + 1, "subdivisions=")) {
        ddp_exact_run now = run;
        ddp_batch b;

        now.subdivisions = (int)strtol(at + strlen("subdivisions="), NULL, 10);
        if (ddp_exact_check(&now, &err)
            || ddp_batch_split(&b, now.batch, now.subdivisions, now.ranks, now.mode, &err))
            fail_msg("batch=%d: %s: %s", run.batch, text, err.text);
        suggested++;
    }
    for (char *at = use ? (char *)use + strlen("use ") : NULL; at && *at >= '0' && *at <= '9';) {
        ddp_exact_run now = run;

        now.ranks = (int)strtol(at, &at, 10);
        if (ddp_exact_check(&now, &err))
            fail_msg("%s: %s", text, err.text);
        at += strspn(at, ", or");
        suggested++;
    }
    if (suggested == 0)
        fail_msg("batch=%d subdivisions=%d: nothing is suggested: %s", run.batch, run.subdivisions,
                 text);
}

static void every_value_suggested_works(void **state)
{
    ddp_batch b;
    ddp_error err;

    (void)state;
    for (int batch = 1; batch <= MOST_BATCH; batch++)
        for (int subdivisions = 1; subdivisions <= batch; subdivisions++)
            for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
                ddp_exact_run run = run_of(batch, subdivisions, ranks);
                int works = is_power_of_two(ranks) && is_power_of_two(subdivisions)
                            && ranks <= subdivisions;

                if (ddp_batch_split(&b, batch, subdivisions, ranks, run.mode, &err))
                    continue;
                if ((ddp_exact_check(&run, &err) == DDP_OK) != works)
                    fail_msg("batch=%d subdivisions=%d ranks=%d", batch, subdivisions, ranks);
                if (!works)
                    try_suggestions(run, err.text);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_are_too_many_or_no_power_of_two_are_refused),
        cmocka_unit_test(subdivisions_that_are_no_power_of_two_are_refused),
        cmocka_unit_test(other_options_that_change_the_sum_are_refused),
        cmocka_unit_test(every_value_suggested_works),
    };

    return cmocka_run_group_tests_name("exact check", tests, NULL, NULL);
}
