/* ddp-test: quick */
/* Runs that -ddp_exact accepts, and that it refuses, to the word. */
#include "core/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const ddp_option_names names = {"-ddp_exact", "-ddp_batch", "-ddp_sync_every",
                                       "-ddp_broadcast_buffers", "-ddp_find_unused"};

enum { MOST_BATCH = 96, MOST_RANKS = 17 };

static ddp_exact_run run_of(int batch, int subdivisions, int ranks)
{
    return (ddp_exact_run){.batch = batch,
                           .subdivisions = subdivisions,
                           .ranks = ranks,
                           .mode = DDP_BATCH_GLOBAL,
                           .sync_every = 1,
                           .broadcast_buffers = 1,
                           .names = &names};
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

static void batches_that_subdivisions_do_not_divide_are_refused(void **state)
{
    (void)state;
    expect_refusal(
        run_of(9, 4, 6),
        "batch=9 is not a multiple of subdivisions=4: 1 of its images would be left out of "
        "every step; batch=8 or batch=12 with 4 ranks would work");
    expect_refusal(
        run_of(22, 8, 1),
        "batch=22 is not a multiple of subdivisions=8: 6 of its images would be left out "
        "of every step; batch=16, batch=24 or subdivisions=2 would work");
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
    run.sync_every = 2;
    expect_refusal(run, "-ddp_exact works with -ddp_sync_every 1, not 2, and with "
                        "-ddp_broadcast_buffers step, not save");
    run.ranks = 3;
    expect_refusal(run, "-ddp_exact with 3 ranks: use 1, 2 or 4 for the cfg's 4 subdivisions, with "
                        "-ddp_sync_every 1 and -ddp_broadcast_buffers step");
}

static int is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Return the run with what the text says has to change beside the value: " with 2 ranks and
 * -ddp_batch global". */
static ddp_exact_run with_what_is_said(ddp_exact_run run, const char *text)
{
    const char *with = strstr(text, " with ");

    if (with && !strstr(text, "use ") && with[strlen(" with ")] != '-')
        run.ranks = (int)strtol(with + strlen(" with "), NULL, 10);
    if (strstr(text, " -ddp_batch global"))
        run.mode = DDP_BATCH_GLOBAL;
    if (strstr(text, " -ddp_sync_every 1"))
        run.sync_every = 1;
    if (strstr(text, " -ddp_broadcast_buffers step"))
        run.broadcast_buffers = 1;
    return run;
}

static void expect_works(const ddp_exact_run *run, const char *text)
{
    ddp_batch b;
    ddp_error err;

    if (ddp_exact_check(run, &err)
        || ddp_batch_split(&b, run->batch, run->subdivisions, run->ranks, run->mode, &names, &err))
        fail_msg("batch=%d subdivisions=%d ranks=%d: %s: %s", run->batch, run->subdivisions,
                 run->ranks, text, err.text);
}

/* Every value of the part that gives advice; returns how many there are. */
static int try_batches(ddp_exact_run run, const char *text)
{
    int suggested = 0;

    for (const char *at = strstr(text, "; "); at && (at = strstr(at, "batch=")); at++) {
        run.batch = (int)strtol(at + strlen("batch="), NULL, 10);
        expect_works(&run, text);
        suggested++;
    }
    return suggested;
}

static int try_subdivisions(ddp_exact_run run, const char *text)
{
    const char *from = strstr(text, "; ");
    int suggested = 0;

    for (const char *at = from ? from : text; (at = strstr(at, "subdivisions=")); at++) {
        run.subdivisions = (int)strtol(at + strlen("subdivisions="), NULL, 10);
        expect_works(&run, text);
        suggested++;
    }
    return suggested;
}

/* "use 1, 2 or 4". */
static int try_ranks(ddp_exact_run run, const char *text)
{
    const char *use = strstr(text, "use ");
    int suggested = 0;

    for (char *at = use ? (char *)use + strlen("use ") : NULL; at && *at >= '0' && *at <= '9';) {
        run.ranks = (int)strtol(at, &at, 10);
        expect_works(&run, text);
        at += strspn(at, ", or");
        suggested++;
    }
    return suggested;
}

static void try_suggestions(ddp_exact_run run, const char *text)
{
    ddp_exact_run now = with_what_is_said(run, text);

    if (strncmp(text, "-ddp_exact works with ", 22) == 0)
        expect_works(&now, text);
    else if (try_batches(now, text) + try_subdivisions(now, text) + try_ranks(now, text) == 0)
        fail_msg("batch=%d subdivisions=%d: nothing is suggested: %s", run.batch, run.subdivisions,
                 text);
}

static void check_run(const ddp_exact_run *run)
{
    int works = is_power_of_two(run->ranks) && is_power_of_two(run->subdivisions)
                && run->ranks <= run->subdivisions && run->batch % run->subdivisions == 0
                && run->mode == DDP_BATCH_GLOBAL && run->sync_every == 1 && run->broadcast_buffers;
    ddp_error err;

    if ((ddp_exact_check(run, &err) == DDP_OK) != works)
        fail_msg("batch=%d subdivisions=%d ranks=%d", run->batch, run->subdivisions, run->ranks);
    if (works)
        expect_works(run, "");
    else
        try_suggestions(*run, err.text);
}

static void every_value_suggested_works(void **state)
{
    (void)state;
    for (int batch = 1; batch <= MOST_BATCH; batch++)
        for (int subdivisions = 1; subdivisions <= MOST_BATCH; subdivisions++)
            for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
                for (int options = 0; options < (batch > 24 ? 1 : 8); options++) {
                    ddp_exact_run run = run_of(batch, subdivisions, ranks);

                    run.mode = options & 1 ? DDP_BATCH_RANK : DDP_BATCH_GLOBAL;
                    run.sync_every = options & 2 ? 3 : 1;
                    run.broadcast_buffers = !(options & 4);
                    check_run(&run);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_are_too_many_or_no_power_of_two_are_refused),
        cmocka_unit_test(subdivisions_that_are_no_power_of_two_are_refused),
        cmocka_unit_test(batches_that_subdivisions_do_not_divide_are_refused),
        cmocka_unit_test(other_options_that_change_the_sum_are_refused),
        cmocka_unit_test(every_value_suggested_works),
    };

    return cmocka_run_group_tests_name("exact check", tests, NULL, NULL);
}
