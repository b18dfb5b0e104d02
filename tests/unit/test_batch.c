/* ddp-test: quick */
/* How a batch is cut over ranks, and what is refused, to the word. */
#include "core/batch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const ddp_option_names names = {"-ddp_exact", "-ddp_batch", "-ddp_sync_every",
                                       "-ddp_broadcast_buffers", "-ddp_find_unused"};

enum { MAX_BATCH = 96, MAX_RANKS = 9 };

static void expect_split(int batch, int subdivisions, int ranks, ddp_batch_mode mode,
                         const char *want)
{
    ddp_batch b;
    ddp_error err;
    char got[128];

    if (ddp_batch_split(&b, batch, subdivisions, ranks, mode, &names, &err))
        fail_msg("batch=%d subdivisions=%d ranks=%d: %s", batch, subdivisions, ranks, err.text);
    (void)snprintf(got, sizeof got, "%d in %d, %d a rank of %d images%s", b.batch, b.subdivisions,
                   b.per_rank, b.images, b.resplit ? ", cut further" : "");
    assert_string_equal(got, want);
}

static void expect_refusal(int batch, int subdivisions, int ranks, ddp_batch_mode mode,
                           const char *want)
{
    ddp_batch b;
    ddp_error err = {0};

    assert_int_equal(ddp_batch_split(&b, batch, subdivisions, ranks, mode, &names, &err),
                     DDP_ERR_USAGE);
    assert_string_equal(err.text, want);
}

static void subdivisions_that_are_a_multiple_of_ranks_stay(void **state)
{
    (void)state;
    expect_split(64, 16, 1, DDP_BATCH_GLOBAL, "64 in 16, 16 a rank of 4 images");
    expect_split(64, 16, 2, DDP_BATCH_GLOBAL, "64 in 16, 8 a rank of 4 images");
    expect_split(64, 16, 16, DDP_BATCH_GLOBAL, "64 in 16, 1 a rank of 4 images");
    expect_split(12, 3, 3, DDP_BATCH_GLOBAL, "12 in 3, 1 a rank of 4 images");
    expect_split(1, 1, 1, DDP_BATCH_GLOBAL, "1 in 1, 1 a rank of 1 images");
}

static void mini_batches_are_cut_into_the_fewest_parts(void **state)
{
    (void)state;
    expect_split(64, 1, 2, DDP_BATCH_GLOBAL, "64 in 2, 1 a rank of 32 images, cut further");
    expect_split(64, 2, 4, DDP_BATCH_GLOBAL, "64 in 4, 1 a rank of 16 images, cut further");
    expect_split(24, 4, 6, DDP_BATCH_GLOBAL, "24 in 12, 2 a rank of 2 images, cut further");
    expect_split(24, 8, 3, DDP_BATCH_GLOBAL, "24 in 24, 8 a rank of 1 images, cut further");
    expect_split(8, 1, 8, DDP_BATCH_GLOBAL, "8 in 8, 1 a rank of 1 images, cut further");
}

static void rank_mode_gives_every_rank_the_whole_batch(void **state)
{
    (void)state;
    expect_split(64, 16, 3, DDP_BATCH_RANK, "192 in 48, 16 a rank of 4 images");
    expect_split(5, 1, 4, DDP_BATCH_RANK, "20 in 4, 1 a rank of 5 images");
}

static void numbers_below_one_are_refused(void **state)
{
    (void)state;
    expect_refusal(0, 1, 2, DDP_BATCH_GLOBAL, "batch=0 subdivisions=1: both must be at least 1");
    expect_refusal(8, 0, 2, DDP_BATCH_RANK, "batch=8 subdivisions=0: both must be at least 1");
    expect_refusal(-8, -2, 2, DDP_BATCH_GLOBAL,
                   "batch=-8 subdivisions=-2: both must be at least 1");
}

static void batch_that_subdivisions_do_not_divide_is_refused(void **state)
{
    (void)state;
    expect_refusal(64, 22, 1, DDP_BATCH_GLOBAL,
                   "batch=64 is not a multiple of subdivisions=22: 20 of its images would be left "
                   "out of every step; batch=44, batch=66, subdivisions=16 or subdivisions=32 "
                   "would work");
    expect_refusal(2147483647, 2, 1, DDP_BATCH_GLOBAL, /* a prime: nothing near divides it */
                   "batch=2147483647 is not a multiple of subdivisions=2: 1 of its images would be "
                   "left out of every step; batch=2147483646 or subdivisions=1 would work");
    expect_refusal(7, 2, 4, DDP_BATCH_RANK,
                   "batch=7 is not a multiple of subdivisions=2: 1 of its images would be left out "
                   "of every step; batch=6, batch=8, subdivisions=1 or subdivisions=7 would work");
}

static void values_suggested_for_the_rest_suit_the_ranks_too(void **state)
{
    (void)state;
    expect_refusal(7, 2, 4, DDP_BATCH_GLOBAL,
                   "batch=7 is not a multiple of subdivisions=2: 1 of its images would be left out "
                   "of every step; batch=4 or batch=8 would work");
    expect_refusal(5, 8, 1, DDP_BATCH_GLOBAL,
                   "batch=5 is not a multiple of subdivisions=8: 5 of its images would be left out "
                   "of every step; batch=8 or subdivisions=5 would work");
    expect_refusal(5, 8, 3, DDP_BATCH_GLOBAL,
                   "batch=5 is not a multiple of subdivisions=8: 5 of its images would be left out "
                   "of every step; batch=24 would work");
}

static void batch_that_ranks_do_not_divide_is_refused(void **state)
{
    (void)state;
    expect_refusal(64, 16, 3, DDP_BATCH_GLOBAL,
                   "batch=64 cannot be cut evenly over 3 ranks; batch=48, batch=96 or "
                   "-ddp_batch rank would work");
    expect_refusal(2, 1, 4, DDP_BATCH_GLOBAL,
                   "batch=2 cannot be cut evenly over 4 ranks; batch=4 or -ddp_batch rank would "
                   "work");
}

static void batch_too_large_to_count_is_refused(void **state)
{
    (void)state;
    expect_refusal(INT_MAX, 1, 2, DDP_BATCH_RANK,
                   "batch=2147483647 on each of 2 ranks is more than 2147483647 images a step");
    expect_refusal(INT_MAX, 1, 2, DDP_BATCH_GLOBAL,
                   "batch=2147483647 cannot be cut evenly over 2 ranks; batch=2147483646 would "
                   "work");
}

/* Return what the header promises; every_split_... holds the code against it. */
static int should_work(const int now[2], int ranks, ddp_batch_mode mode)
{
    return now[0] % now[1] == 0 && (mode == DDP_BATCH_RANK || now[0] % ranks == 0);
}

/* The parts add up, and no smaller number of parts would have done. */
static void check_parts(const ddp_batch *b, int batch, int subdivisions, int ranks,
                        ddp_batch_mode mode)
{
    int times = mode == DDP_BATCH_RANK ? ranks : 1;
    int parts = b->subdivisions / (subdivisions * times), fewest = 1;

    while (mode == DDP_BATCH_GLOBAL
           && (subdivisions * fewest % ranks || batch / subdivisions % fewest))
        fewest++;
    assert_true(should_work((const int[2]){batch, subdivisions}, ranks, mode));
    assert_int_equal(b->batch, batch * times);
    assert_int_equal(b->subdivisions * b->images, b->batch);
    assert_int_equal(b->per_rank * ranks, b->subdivisions);
    assert_int_equal(parts, fewest);
    assert_int_equal(b->resplit != 0, parts > 1);
}

/* Every value of `name` that text suggests works, and none on its side of the
 * present one is nearer. Returns how many it suggests. */
static int check_suggestions(const char *text, const char *name, const int now[2], int which,
                             int ranks, ddp_batch_mode mode)
{
    int suggested = 0;

    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        int value = (int)strtol(at + strlen(name), NULL, 10), try[2] = {now[0], now[1]};
        ddp_batch b;
        ddp_error err;

        try[which] = value;
        if (ddp_batch_split(&b, try[0], try[1], ranks, mode, &names, &err))
            fail_msg("%s%d does not work on %d ranks: %s", name, value, ranks, text);
        while (try[which] += value < now[which] ? 1 : -1, try[which] != now[which])
            if (should_work(try, ranks, mode))
                fail_msg("%s%d is nearer on %d ranks: %s", name, try[which], ranks, text);
        suggested++;
    }
    return suggested;
}

static void check_refusal(const ddp_error *err, int batch, int subdivisions, int ranks,
                          ddp_batch_mode mode)
{
    const char *advice = strchr(err->text, ';');
    int now[2] = {batch, subdivisions};

    if (should_work(now, ranks, mode))
        fail_msg("batch=%d subdivisions=%d ranks=%d: %s", batch, subdivisions, ranks, err->text);
    assert_non_null(advice);
    if (check_suggestions(advice, " batch=", now, 0, ranks, mode) == 0)
        fail_msg("no batch is suggested: %s", err->text);
    (void)check_suggestions(advice, " subdivisions=", now, 1, ranks, mode);
    if (strstr(advice, "-ddp_batch rank"))
        assert_true(should_work(now, ranks, DDP_BATCH_RANK));
}

static void every_split_adds_up_and_every_suggested_value_works(void **state)
{
    static const ddp_batch_mode modes[] = {DDP_BATCH_GLOBAL, DDP_BATCH_RANK};
    ddp_batch b;
    ddp_error err;

    (void)state;
    for (int batch = 1; batch <= MAX_BATCH; batch++)
        for (int subdivisions = 1; subdivisions <= MAX_BATCH; subdivisions++)
            for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
                for (int m = 0; m < 2; m++)
                    if (ddp_batch_split(&b, batch, subdivisions, ranks, modes[m], &names, &err))
                        check_refusal(&err, batch, subdivisions, ranks, modes[m]);
                    else
                        check_parts(&b, batch, subdivisions, ranks, modes[m]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subdivisions_that_are_a_multiple_of_ranks_stay),
        cmocka_unit_test(mini_batches_are_cut_into_the_fewest_parts),
        cmocka_unit_test(rank_mode_gives_every_rank_the_whole_batch),
        cmocka_unit_test(numbers_below_one_are_refused),
        cmocka_unit_test(batch_that_subdivisions_do_not_divide_is_refused),
        cmocka_unit_test(values_suggested_for_the_rest_suit_the_ranks_too),
        cmocka_unit_test(batch_that_ranks_do_not_divide_is_refused),
        cmocka_unit_test(batch_too_large_to_count_is_refused),
        cmocka_unit_test(every_split_adds_up_and_every_suggested_value_works),
    };

    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
