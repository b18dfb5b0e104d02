/* ddp-test: quick */
/* Which GPU each rank gets, and what is refused, without any GPU. */
#include "launch/gpu_placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { RANKS_MAX = 8 };

static ddp_gpu_wish wish(const char *list, int gpu)
{
    ddp_gpu_wish w = {.gpu = gpu};
    ddp_error err;

    if (list)
        assert_int_equal(ddp_gpu_list_parse(&w.list, list, &err), DDP_OK);
    return w;
}

static void expect(ddp_status got, const ddp_error *err, const char *sentence)
{
    if (!sentence)
        assert_int_equal(got, DDP_OK);
    else if (got != DDP_ERR_USAGE || strcmp(err->text, sentence) != 0)
        fail_msg("got %d '%s' and wanted '%s'", (int)got, got ? err->text : "", sentence);
}

/* One host's ranks, each of which sees `seen` GPUs: rank r's GPU 0 is the host's GPU
 * r * apart, because its launcher shows it others. */
struct host {
    const char *name;
    int ranks, seen, apart;
};

static int seat_ranks(ddp_gpu_placement *placements, struct host host, const ddp_gpu_wish *w,
                      ddp_error *err)
{
    for (int r = 0; r < host.ranks; r++) {
        ddp_gpu_placement *placement = &placements[r];

        *placement = (ddp_gpu_placement){
            .local_rank = r, .local_size = host.ranks, .seen = host.seen, .gpu = -1};
        (void)snprintf(placement->host, sizeof placement->host, "%s", host.name);
        if (ddp_gpu_choose(placement, w, err))
            return 0;
        (void)snprintf(placement->identity, sizeof placement->identity, "GPU-%d",
                       r * host.apart + placement->gpu);
    }
    return host.ranks;
}

/* The ranks of two hosts; sentence: with which they are refused, or NULL. */
static void expect_two(ddp_gpu_placement *placements, struct host a, struct host b, ddp_gpu_wish w,
                       const char *sentence, int shared)
{
    ddp_error err = {0};
    int n = seat_ranks(placements, a, &w, &err);

    if (n == a.ranks)
        n += seat_ranks(placements + n, b, &w, &err);
    if (n < a.ranks + b.ranks) {
        expect(err.code, &err, sentence);
        return;
    }
    expect(ddp_gpu_check_placements(placements, n, &w, &err), &err, sentence);
    for (int r = 0; r < n && !sentence; r++)
        assert_int_equal(placements[r].shared, shared);
}

static void expect_one(ddp_gpu_placement *placements, struct host a, ddp_gpu_wish w,
                       const char *sentence, int shared)
{
    expect_two(placements, a, (struct host){"none", 0, 0, 0}, w, sentence, shared);
}

static void a_list_is_numbers_with_commas(void **state)
{
    static const char *const bad[] = {
        "",     ",",  "0,", ",0",  "0,,1", "a",   "0,b",  "0 ,1",
        "0, 1", "-1", "+1", "1.0", "0;1",  "0x1", "1024", "0,99999999999999999999"};
    ddp_gpu_list list;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_gpu_list_parse(&list, "3", &err), DDP_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.gpus[0], 3);
    assert_int_equal(ddp_gpu_list_parse(&list, "1,0,1023,1", &err), DDP_OK);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.gpus[2], 1023);
    assert_int_equal(list.gpus[3], 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char sentence[256];

        (void)snprintf(sentence, sizeof sentence,
                       "-gpus wants numbers of GPUs from 0 to 1023 with commas between them, such "
                       "as 0,1,2, not '%s'",
                       bad[i]);
        expect(ddp_gpu_list_parse(&list, bad[i], &err), &err, sentence);
    }
}

static void a_list_has_an_end(void **state)
{
    char text[2 * DDP_GPU_LIST_MAX + 4] = "0", sentence[512];
    ddp_gpu_list list;
    ddp_error err;

    (void)state;
    for (int i = 1; i < DDP_GPU_LIST_MAX; i++)
        (void)strcat(text, ",0");
    assert_int_equal(ddp_gpu_list_parse(&list, text, &err), DDP_OK);
    assert_int_equal(list.count, DDP_GPU_LIST_MAX);
    (void)strcat(text, ",0");
    (void)snprintf(sentence, sizeof sentence, "-gpus takes up to 64 GPUs, and '%s' names more",
                   text);
    expect(ddp_gpu_list_parse(&list, text, &err), &err, sentence);
}

static void each_rank_takes_the_gpu_of_its_local_rank(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];

    (void)state;
    expect_two(placements, (struct host){"a", 4, 4, 0}, (struct host){"b", 2, 3, 0}, wish(NULL, -1),
               NULL, 0);
    for (int r = 0; r < 4; r++)
        assert_int_equal(placements[r].gpu, r);
    assert_int_equal(placements[4].gpu, 0);
    assert_int_equal(placements[5].gpu, 1);
}

static void ranks_that_each_see_one_gpu_of_their_own_take_it(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];

    (void)state;
    for (int gpu = -1; gpu < 1; gpu++) {
        expect_one(placements, (struct host){"a", 4, 1, 1}, wish(NULL, gpu), NULL, 0);
        for (int r = 0; r < 4; r++)
            assert_int_equal(placements[r].gpu, 0);
    }
}

static void a_list_gives_rank_r_its_entry_r(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];

    (void)state;
    expect_two(placements, (struct host){"a", 3, 4, 0}, (struct host){"b", 2, 4, 0},
               wish("3,1,0", -1), NULL, 0);
    assert_int_equal(placements[0].gpu, 3);
    assert_int_equal(placements[2].gpu, 0);
    assert_int_equal(placements[4].gpu, 1);
    /* b has no GPU 3, and no rank that would take it. */
    expect_two(placements, (struct host){"a", 3, 4, 0}, (struct host){"b", 2, 3, 0},
               wish("0,1,3", -1), NULL, 0);
}

static void a_list_may_name_a_gpu_twice(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];
    ddp_gpu_wish w = wish("0,1,0", -1);
    ddp_error err;

    (void)state;
    expect_one(placements, (struct host){"a", 2, 1, 0}, wish("0,0", -1), NULL, 1);
    assert_int_equal(seat_ranks(placements, (struct host){"a", 3, 2, 0}, &w, &err), 3);
    assert_int_equal(ddp_gpu_check_placements(placements, 3, &w, &err), DDP_OK);
    for (int r = 0; r < 3; r++)
        assert_int_equal(placements[r].shared, r != 1);
}

static void too_many_ranks_are_refused(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];

    (void)state;
    expect_two(placements, (struct host){"a", 1, 1, 0}, (struct host){"b", 3, 2, 0}, wish(NULL, -1),
               "3 ranks on host b, which has 2 GPUs: start 2 ranks there, or let ranks share them, "
               "to test, with -gpus 0,1,0",
               0);
    expect_one(placements, (struct host){"a", 3, 4, 0}, wish("0,1", -1),
               "3 ranks on host a, and -gpus names 2 GPUs: it wants a number for each rank of a "
               "host (several ranks may share a GPU, to test)",
               0);
    expect_one(placements, (struct host){"a", 2, 4, 0}, wish(NULL, 1),
               "ranks 0 and 1 on host a would both compute on one GPU, 1 for one and 1 for the "
               "other; -gpus with a number for each rank of a host gives each its own",
               0);
    /* Rank 1 sees rank 0's GPU 1 as its GPU 0. */
    expect_one(placements, (struct host){"a", 2, 2, -1}, wish(NULL, -1),
               "ranks 0 and 1 on host a would both compute on one GPU, 0 for one and 1 for the "
               "other; -gpus with a number for each rank of a host gives each its own",
               0);
}

static void gpus_that_are_not_there_are_refused(void **state)
{
    ddp_gpu_placement placements[RANKS_MAX];

    (void)state;
    expect_one(placements, (struct host){"a", 1, 0, 0}, wish(NULL, -1),
               "this build is for GPUs, and host a has none that CUDA can use; with -nogpu it "
               "trains on CPUs",
               0);
    expect_one(placements, (struct host){"a", 2, 2, 0}, wish("0,2", -1),
               "-gpus names GPU 2, but host a has 2 GPUs, numbered from 0", 0);
    expect_one(placements, (struct host){"a", 1, 1, 0}, wish(NULL, 7),
               "-i names GPU 7, but host a has 1 GPU, numbered from 0", 0);
}

static void nothing_is_started_that_cannot_run(void **state)
{
    static const struct {
        const char *list;
        int gpu, ranks, seen;
        const char *sentence;
    } cases[] = {
        {NULL, -1, 1, 1, NULL},
        {NULL, -1, 4, 4, NULL},
        {NULL, 3, 1, 4, NULL},
        {"0,0,1", -1, 3, 2, NULL},
        {NULL, -1, 1, 0,
         "this build is for GPUs, and host a has none that CUDA can use; with -nogpu it trains on "
         "CPUs"},
        {NULL, -1, 4, 1,
         "4 ranks on host a, which has 1 GPU: start 1 rank there, or let ranks share them, to "
         "test, with -gpus 0,0,0,0"},
        {NULL, 0, 2, 4,
         "-i 0 names one GPU for 2 ranks; -gpus with a number for each rank of a host gives each "
         "its own"},
        {NULL, 4, 1, 4, "-i names GPU 4, but host a has 4 GPUs, numbered from 0"},
        {"0,4", -1, 2, 4, "-gpus names GPU 4, but host a has 4 GPUs, numbered from 0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ddp_gpu_wish w = wish(cases[i].list, cases[i].gpu);
        ddp_error err;

        expect(ddp_gpu_check_start(&w, "a", cases[i].ranks, cases[i].seen, &err), &err,
               cases[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_numbers_with_commas),
        cmocka_unit_test(a_list_has_an_end),
        cmocka_unit_test(each_rank_takes_the_gpu_of_its_local_rank),
        cmocka_unit_test(ranks_that_each_see_one_gpu_of_their_own_take_it),
        cmocka_unit_test(a_list_gives_rank_r_its_entry_r),
        cmocka_unit_test(a_list_may_name_a_gpu_twice),
        cmocka_unit_test(too_many_ranks_are_refused),
        cmocka_unit_test(gpus_that_are_not_there_are_refused),
        cmocka_unit_test(nothing_is_started_that_cannot_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
