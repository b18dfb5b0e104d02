/* ddp-test: quick tsan */
/* Sums by levels: hosts of any number of ranks, any number of hosts, the same bits as ever. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/group_schedule.h"
#include "comm/work.h"

#include "../reference_sum.h"
#include "sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { CHUNK = (1 << 19) / (int)sizeof(float) };

static const struct hosts_shape shapes[] = {
    {1, 0, {2}},
    {1, 0, {3}},
    {1, 0, {8}},
    {2, 0, {1, 1}},
    {2, 0, {2, 2}},
    {2, 0, {3, 3}},
    {2, 0, {6, 6}},
    {2, 0, {1, 3}},
    {2, 0, {4, 1}},
    {3, 0, {1, 1, 1}},
    {3, 0, {2, 2, 2}},
    {3, 0, {3, 3, 3}},
    {3, 0, {2, 1, 4}},
    {4, 0, {1, 1, 1, 1}},
    {4, 0, {2, 2, 2, 2}},
    {5, 0, {3, 1, 2, 1, 4}},
    {8, 0, {1, 1, 1, 1, 1, 1, 1, 1}},
    {3, 2, {2, 2, 2}},
    {4, 2, {1, 1, 1, 1}},
    {5, 2, {2, 2, 2, 2, 2}},
    {7, 2, {1, 1, 1, 1, 1, 1, 1}},
    {7, 3, {1, 3, 1, 2, 1, 1, 1}},
    {9, 2, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {9, 3, {3, 3, 3, 3, 3, 3, 3, 3, 3}},
    {9, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {17, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill(const struct rank *me, int sum, float *buf, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf[i] = reference_value(me->rank, sum, i);
}

/* Make sums of lengths below and above a chunk. */
static void sums(struct rank *me)
{
    static const size_t counts[] = {1, 2, 17, 5000, CHUNK + 3, 40, (size_t)4 * CHUNK / 3, 3};
    enum { SUMS = sizeof counts / sizeof counts[0] };
    struct sum s[SUMS];

    for (int i = 0; i < SUMS; i++)
        s[i] = (struct sum){.number = i, .count = counts[i]};
    sums_together(me, s, SUMS);
}

static void sums_have_the_same_bits_on_any_hosts(void **state)
{
    (void)state;
    ranks_run_shapes(shapes, SHAPES, sums);
}

/* Each element in turn is no number, on one rank; in the rounds between, all are. */
static void one_is_not_finite(struct rank *me)
{
    enum { COUNT = 13, ROUNDS = 2 * COUNT };
    float buf[COUNT];
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, COUNT, &err), &err);
    for (int round = 0; round < ROUNDS; round++) {
        fill(me, 0, buf, COUNT);
        if (round % 2 && round / 2 % me->size == me->rank)
            buf[round / 2] = INFINITY;
        rank_expect_ok(me, ddp_work_start(w, &err), &err);
        rank_expect_ok(me, ddp_work_wait(w, &err), &err);
        if (ddp_work_finite(w) == round % 2)
            rank_wrong(me, "round %d: finite is %d", round, ddp_work_finite(w));
    }
    ddp_work_close(w);
}

static void every_rank_learns_of_a_sum_that_is_not_finite(void **state)
{
    (void)state;
    ranks_run_shapes(shapes, SHAPES, one_is_not_finite);
}

/* Count what leaves a host: the least, 2 (hosts-1)/hosts of the bytes, where its ranks are a branch
 * of the tree. */
static void count_bytes(struct rank *me)
{
    enum { COUNT = 8 * CHUNK };
    const struct hosts_shape *shape = me->shared;
    float *buf = calloc(COUNT, sizeof *buf);
    ddp_traffic mine, all[RANKS_MAX];
    uint64_t left = 0, least = 2 * (uint64_t)COUNT * sizeof *buf * (uint64_t)(shape->hosts - 1)
                               / (uint64_t)shape->hosts;
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, COUNT, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    mine = ddp_group_traffic(me->group);
    rank_expect_ok(me, ddp_allgather(me->group, &mine, all, sizeof mine, &err), &err);
    for (int r = 0; r < me->size; r++)
        if (strcmp(ddp_group_host(me->group, r), ddp_group_host(me->group, me->rank)) == 0)
            left += all[r].inter_host_bytes;
    if (left != least || (shape->hosts > 1) != (mine.messages > 0))
        rank_wrong(me, "%llu bytes leave the host, not %llu; %llu messages",
                   (unsigned long long)left, (unsigned long long)least,
                   (unsigned long long)mine.messages);
    ddp_work_close(w);
    free(buf);
}

static void a_host_sends_what_one_rank_would(void **state)
{
    static const struct hosts_shape even[] = {
        {1, 0, {4}},          {2, 0, {1, 1}},
        {2, 0, {2, 2}},       {2, 0, {8, 8}},
        {4, 0, {1, 1, 1, 1}}, {4, 0, {2, 2, 2, 2}},
        {4, 2, {2, 2, 2, 2}}, {8, 2, {4, 4, 4, 4, 4, 4, 4, 4}}};

    (void)state;
    for (size_t i = 0; i < sizeof even / sizeof even[0]; i++) {
        struct hosts_shape shape = even[i];

        ranks_run_levels(shape.ranks, shape.hosts, shape.radix, count_bytes, &shape);
    }
}

/* Rank 2 does not come: those of its host know that it is the one, and others name the rank that
 * has not sent what it owes them, which waits itself. */
static void late_sum(struct rank *me)
{
    static float bufs[RANKS_MAX][5000]; /* outlive the threads, like a failed send */
    ddp_work *w;
    ddp_error err;
    char want[512];

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, bufs[me->rank], 5000, &err), &err);
    if (me->rank != 2)
        rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_meet(me); /* now rank 2 alone owes something, however slow the machine is */
    ddp_group_set_timeout(me->group, 300000000);
    if (me->rank != 2) {
        int own = me->rank == 3;

        (void)snprintf(want, sizeof want,
                       "no message from rank %d (host host1) for 0.3 s, sum 1 of 1",
                       own || me->rank == 0 ? 2 : 3);
        rank_expect_error(me, ddp_work_wait(w, &err), &err, DDP_ERR_COMM, want);
    }
    rank_meet(me); /* its memory is read until the others have failed */
    ddp_work_close(w);
}

static void timeout_names_the_late_rank(void **state)
{
    static const int ranks[] = {2, 2};

    (void)state;
    ranks_run_levels(ranks, 2, 0, late_sum, NULL);
}

static void unequal_sums(struct rank *me)
{
    static float bufs[RANKS_MAX][8];
    size_t count = me->rank == 2 ? 8 : 7;
    ddp_work *w;
    ddp_status st;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, bufs[me->rank], count, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_meet(me);
    ddp_group_set_timeout(me->group, 500000000);
    st = ddp_work_wait(w, &err);
    if (me->rank != 2)
        rank_expect_error(me, st, &err, DDP_ERR_COMM,
                          "sum 1 of 1: rank 2 sums 32 bytes where 28 are due");
    else if (st != DDP_ERR_COMM)
        rank_wrong(me, "status %d of a sum that rank 2 has another length for", st);
    rank_meet(me);
    ddp_work_close(w);
}

static void sums_of_unequal_length_fail(void **state)
{
    static const int ranks[] = {3};

    (void)state;
    ranks_run_levels(ranks, 1, 0, unequal_sums, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_same_bits_on_any_hosts),
        cmocka_unit_test(every_rank_learns_of_a_sum_that_is_not_finite),
        cmocka_unit_test(a_host_sends_what_one_rank_would),
        cmocka_unit_test(timeout_names_the_late_rank),
        cmocka_unit_test(sums_of_unequal_length_fail),
    };

    return cmocka_run_group_tests_name("group levels", tests, NULL, NULL);
}
