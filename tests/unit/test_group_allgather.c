/* ddp-test: quick tsan */
/* All-gathers that are started: every rank's part, to the bit, by every schedule. */
#include "comm/group_gpu.h"
#include "comm/group_schedule.h"
#include "comm/work.h"

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

enum { CHUNK = (1 << 19) / (int)sizeof(float), MOST = 6 };

static const struct hosts_shape shapes[] = {
    {1, 0, {2}},
    {1, 0, {3}},
    {1, 0, {8}},
    {2, 0, {1, 1}},
    {2, 0, {2, 2}},
    {2, 0, {1, 3}},
    {3, 0, {2, 1, 4}},
    {3, 0, {4, 1, 2}},
    {4, 0, {1, 1, 1, 1}},
    {4, 0, {2, 2, 2, 2}},
    {3, 2, {2, 2, 2}},
    {5, 2, {2, 2, 2, 2, 2}},
    {9, 3, {3, 1, 3, 3, 3, 3, 3, 2, 3}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const int sizes[] = {1, 2, 3, 4, 5, 8};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void run_everywhere(void (*body)(struct rank *me))
{
    for (int i = 0; i < SIZES; i++)
        ranks_run(sizes[i], body, NULL);
    ranks_run_shapes(shapes, SHAPES, body);
}

struct gather {
    int number;
    size_t count; /* of each rank */
    int is_shared;
    ddp_work *work;
    float *all;
};

static void gather_open(struct rank *me, struct gather *x)
{
    size_t count = x->count * (size_t)me->size;
    ddp_error err;

    if (x->is_shared) {
        rank_expect_ok(
            me, ddp_group_alloc_memory(me->group, ddp_device_host(), &x->all, count, &err), &err);
    } else {
        x->all = malloc((count + 1) * sizeof *x->all);
        if (!x->all)
            abort();
    }
    rank_expect_ok(
        me, ddp_allgather_open(&x->work, me->group, ddp_device_host(), x->all, x->count, &err),
        &err);
}

static void gather_close(struct rank *me, struct gather *x)
{
    ddp_work_close(x->work);
    if (x->is_shared)
        ddp_group_free_memory(me->group, ddp_device_host(), x->all);
    else
        free(x->all);
}

/* Any bits: numbers that are none, and those that a sum would round away, among them. */
static uint32_t bits_of(int number, int rank, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761U + (uint32_t)rank * 40503U + (uint32_t)number * 97U;

    return x ^ x >> 15;
}

/* Return what a rank gives, made at once: a sanitizer looks at each access of its own. Free it. */
static uint32_t *part_of(const struct gather *x, int rank)
{
    uint32_t *part = malloc((x->count + 1) * sizeof *part);

    if (!part)
        abort();
    for (size_t i = 0; i < x->count; i++)
        part[i] = bits_of(x->number, rank, i);
    return part;
}

static void gather_start(struct rank *me, struct gather *x)
{
    uint32_t *part = part_of(x, me->rank);
    ddp_error err;

    memset(x->all, 0x55, x->count * (size_t)me->size * sizeof *x->all);
    memcpy(x->all + (size_t)me->rank * x->count, part, x->count * sizeof *part);
    free(part);
    rank_expect_ok(me, ddp_work_start(x->work, &err), &err);
}

static void gather_expect(struct rank *me, const struct gather *x)
{
    for (int r = 0; r < me->size; r++) {
        uint32_t *want = part_of(x, r), got;
        const float *part = x->all + (size_t)r * x->count;
        size_t i = 0;

        if (memcmp(part, want, x->count * sizeof *want) != 0) {
            while (memcmp(part + i, want + i, sizeof *want) == 0)
                i++;
            memcpy(&got, part + i, sizeof got);
            rank_wrong(me, "%zu a rank: [%zu] of rank %d is %08x, not %08x", x->count, i, r,
                       (unsigned)got, (unsigned)want[i]);
        }
        free(want);
    }
}

/* Among sums, waited for in another order than started, and again. */
static void gather_parts(struct rank *me)
{
    static const size_t counts[] = {0, 1, 2, 17, 0, 4099, CHUNK / 2 + 3, 65536, CHUNK + 1};
    enum { GATHERS = sizeof counts / sizeof counts[0] };
    struct gather x[GATHERS];
    struct sum sum = {.number = 1, .count = 70001};
    ddp_error err;

    sum_open(me, &sum);
    for (int i = 0; i < GATHERS; i++) {
        x[i] = (struct gather){.number = i, .count = counts[i], .is_shared = i % 3 == 1};
        if (i + 1 == GATHERS || me->size > MOST)
            x[i].count = x[i].count % (CHUNK / 2);
        gather_open(me, &x[i]);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < GATHERS; i++) {
            gather_start(me, &x[i]);
            if (i == 3)
                sum_start(me, &sum);
            for (int polls = (i + me->rank) % 3; polls > 0; polls--)
                rank_expect_ok(me, ddp_group_progress(me->group, &err), &err);
        }
        for (int i = GATHERS - 1; i >= 0; i--) {
            rank_expect_ok(me, ddp_work_fence(x[i].work, &err), &err);
            if (!ddp_work_done(x[i].work))
                rank_wrong(me, "fenced, and not done");
            gather_expect(me, &x[i]);
        }
        rank_expect_ok(me, ddp_work_wait(sum.work, &err), &err);
        sum_expect(me, &sum);
    }
    for (int i = 0; i < GATHERS; i++)
        gather_close(me, &x[i]);
    sum_close(me, &sum);
}

static void every_rank_gets_every_part_to_the_bit(void **state)
{
    (void)state;
    run_everywhere(gather_parts);
}

/* One rank's memory is shared with those of its host, another's is not. */
static void gather_into_mixed_memory(struct rank *me)
{
    struct gather x = {.count = 70000, .is_shared = 1};
    float *own = malloc(x.count * (size_t)me->size * sizeof *own), *shared;
    ddp_error err;

    if (!own)
        abort();
    rank_expect_ok(me,
                   ddp_group_alloc_memory(me->group, ddp_device_host(), &shared,
                                          x.count * (size_t)me->size, &err),
                   &err);
    x.all = me->rank % 2 ? own : shared;
    rank_expect_ok(
        me, ddp_allgather_open(&x.work, me->group, ddp_device_host(), x.all, x.count, &err), &err);
    gather_start(me, &x);
    rank_expect_ok(me, ddp_work_wait(x.work, &err), &err);
    gather_expect(me, &x);
    ddp_work_close(x.work);
    ddp_group_free_memory(me->group, ddp_device_host(), shared);
    free(own);
}

static void ranks_of_a_host_need_not_share_the_memory(void **state)
{
    (void)state;
    ranks_run_shapes(shapes, SHAPES, gather_into_mixed_memory);
}

/* Rank `round` has one element that is not finite; in the last round nobody has. */
static void one_is_not_finite(struct rank *me)
{
    enum { COUNT = 40000 };
    struct gather x = {.count = COUNT};
    float *own, *odd;
    ddp_error err;

    gather_open(me, &x);
    own = x.all + COUNT * (size_t)me->rank;
    odd = own + COUNT / 7 * (size_t)(me->rank % 7);
    for (size_t i = 0; i < COUNT; i++)
        own[i] = 1;
    for (int round = 0; round <= me->size; round++) {
        *odd = round == me->rank ? INFINITY : 1;
        rank_expect_ok(me, ddp_work_start(x.work, &err), &err);
        rank_expect_ok(me, ddp_work_wait(x.work, &err), &err);
        if (ddp_work_finite(x.work) != (round == me->size))
            rank_wrong(me, "round %d: finite is %d", round, round != me->size);
    }
    gather_close(me, &x);
}

static void every_rank_learns_of_a_part_that_is_not_finite(void **state)
{
    (void)state;
    run_everywhere(one_is_not_finite);
}

/* Directly a part goes to each other rank; by levels, to each other host. */
static void count_bytes(struct rank *me)
{
    enum { COUNT = 100003 };
    struct gather x = {.count = COUNT};
    int others = me->size - 1, is_direct = strcmp(ddp_group_schedule(me->group), "direct") == 0;
    ddp_traffic sent;
    ddp_error err;

    for (int r = 0; r < me->size && !is_direct; r++)
        others -=
            r > 0 && strcmp(ddp_group_host(me->group, r), ddp_group_host(me->group, r - 1)) == 0;
    gather_open(me, &x);
    gather_start(me, &x);
    rank_expect_ok(me, ddp_work_wait(x.work, &err), &err);
    sent = ddp_group_traffic(me->group);
    if (sent.bytes != (uint64_t)others * COUNT * sizeof(float))
        rank_wrong(me, "%llu bytes sent to %d others", (unsigned long long)sent.bytes, others);
    gather_close(me, &x);
}

static void a_part_is_sent_once_to_each_rank_or_host(void **state)
{
    (void)state;
    run_everywhere(count_bytes);
}

/* Rank 1 does not come. */
static void late_part(struct rank *me)
{
    static float bufs[RANKS_MAX][3 * 5000]; /* outlive the threads, like a failed send */
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(
        me, ddp_allgather_open(&w, me->group, ddp_device_host(), bufs[me->rank], 5000, &err), &err);
    ddp_group_set_timeout(me->group, 300000000);
    if (me->rank != 1) {
        ddp_status st;

        rank_expect_ok(me, ddp_work_start(w, &err), &err);
        st = ddp_work_wait(w, &err);
        if (st != DDP_ERR_COMM || !strstr(err.text, "no message from rank 1 ")
            || !strstr(err.text, ", all-gather 1 of 1"))
            rank_wrong(me, "status %d: %s", st, st ? err.text : "");
    }
    rank_meet(me);
    ddp_work_close(w);
}

static void timeout_names_who_is_late_with_its_part(void **state)
{
    static const int together[] = {3}, apart[] = {1, 1, 1};

    (void)state;
    ranks_run(3, late_part, NULL);
    ranks_run_levels(together, 1, 0, late_part, NULL);
    ranks_run_levels(apart, 3, 0, late_part, NULL);
}

static void misuse(struct rank *me)
{
    struct gather x = {.count = 10};
    ddp_error err;

    gather_open(me, &x);
    rank_expect_error(me, ddp_work_wait(x.work, &err), &err, DDP_ERR_USAGE,
                      "all-gather 1 was not started");
    rank_expect_error(me, ddp_work_start_phase(x.work, DDP_ALL_GATHER, &err), &err, DDP_ERR_USAGE,
                      "all-gather 1 has no halves");
    gather_start(me, &x);
    rank_expect_error(me, ddp_work_start(x.work, &err), &err, DDP_ERR_USAGE,
                      "all-gather 1 is in flight already");
    rank_expect_ok(me, ddp_work_wait(x.work, &err), &err);
    gather_close(me, &x);
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    ranks_run(2, misuse, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_gets_every_part_to_the_bit),
        cmocka_unit_test(ranks_of_a_host_need_not_share_the_memory),
        cmocka_unit_test(every_rank_learns_of_a_part_that_is_not_finite),
        cmocka_unit_test(a_part_is_sent_once_to_each_rank_or_host),
        cmocka_unit_test(timeout_names_who_is_late_with_its_part),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
