/* ddp-test: quick tsan */
/* Sums in two halves, by every schedule: after the first each rank has the sum of its share, after
 * the second everybody has what each put there. */
#include "comm/group.h"
#include "comm/group_schedule.h"
#include "comm/work.h"
#include "device/wire.h"

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
    {2, 0, {1, 3}},
    {3, 0, {2, 1, 4}},
    {4, 0, {1, 1, 1, 1}},
    {4, 0, {2, 2, 2, 2}},
    {3, 2, {2, 2, 2}},
    {5, 2, {2, 2, 2, 2, 2}},
    {9, 3, {3, 3, 3, 3, 3, 3, 3, 3, 3}},
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

static void start(struct rank *me, struct sum *s, ddp_work_phase half)
{
    ddp_error err;

    if (half == DDP_REDUCE_SCATTER)
        for (size_t i = 0; i < s->count; i++)
            s->buf[i] = reference_value_on(s->wire, me->rank, s->number, i);
    rank_expect_ok(me, ddp_work_start_phase(s->work, half, &err), &err);
}

/* Nobody else's share can have helped: what is outside of this rank's is spoiled. */
static void keep_the_share_alone(struct rank *me, struct sum *s)
{
    float *spoiled = malloc((s->count + 1) * sizeof *spoiled);
    ddp_range *ranges;
    size_t count, begun = 0;
    ddp_error err;

    if (!spoiled)
        abort();
    for (size_t i = 0; i < s->count; i++)
        spoiled[i] = -1e30F;
    rank_expect_ok(me, ddp_work_share(s->work, &ranges, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].begin < begun || ranges[i].end <= ranges[i].begin || ranges[i].end > s->count)
            rank_wrong(me, "sum of %zu: range %zu is %zu to %zu", s->count, i, ranges[i].begin,
                       ranges[i].end);
        begun = ranges[i].end;
        memcpy(spoiled + ranges[i].begin, s->buf + ranges[i].begin,
               (ranges[i].end - ranges[i].begin) * sizeof *spoiled);
    }
    memcpy(s->buf, spoiled, s->count * sizeof *spoiled);
    free(ranges);
    free(spoiled);
}

/* All in flight together, their second halves before the first of others. */
static void halves(struct rank *me)
{
    static const size_t counts[] = {1, 2, 17, 5000, CHUNK + 3, 40, (size_t)4 * CHUNK / 3, 3};
    static const ddp_wire of[] = {DDP_WIRE_BF16, DDP_WIRE_FP32, DDP_WIRE_FP32, DDP_WIRE_FP8};
    enum { SUMS = sizeof counts / sizeof counts[0] };
    struct sum s[SUMS], whole = {.number = SUMS, .count = 70000};
    ddp_error err;

    sum_open(me, &whole);
    for (int i = 0; i < SUMS; i++) {
        s[i] = (struct sum){.number = i, .count = counts[i], .wire = of[i % 4]};
        if (me->size == 1)
            s[i].wire = DDP_WIRE_FP32;
        sum_open(me, &s[i]);
    }
    for (int i = 0; i < SUMS; i++)
        start(me, &s[i], DDP_REDUCE_SCATTER);
    sum_start(me, &whole);
    for (int i = SUMS - 1; i >= 0; i--) {
        rank_expect_ok(me, ddp_work_wait(s[i].work, &err), &err);
        keep_the_share_alone(me, &s[i]);
        start(me, &s[i], DDP_ALL_GATHER);
    }
    for (int i = 0; i < SUMS; i++) {
        rank_expect_ok(me, ddp_work_wait(s[i].work, &err), &err);
        sum_expect(me, &s[i]);
    }
    rank_expect_ok(me, ddp_work_wait(whole.work, &err), &err);
    sum_expect(me, &whole);
    for (int i = 0; i < SUMS; i++)
        sum_close(me, &s[i]);
    sum_close(me, &whole);
}

static void two_halves_have_the_bits_of_the_whole(void **state)
{
    (void)state;
    run_everywhere(halves);
}

/* A share is anybody's own: numbers that 16 bits do not hold go as they are. */
static void shares_travel_in_float32(struct rank *me)
{
    enum { COUNT = 30000 };
    struct sum s = {.count = COUNT, .wire = me->size > 1 ? DDP_WIRE_BF16 : DDP_WIRE_FP32};
    ddp_error err;

    sum_open(me, &s);
    for (size_t i = 0; i < COUNT; i++)
        s.buf[i] = 1.0F + 1e-6F * (float)i;
    keep_the_share_alone(me, &s);
    start(me, &s, DDP_ALL_GATHER);
    rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        if (!reference_same_bits(s.buf[i], 1.0F + 1e-6F * (float)i)) {
            rank_wrong(me, "[%zu] is %.9g", i, (double)s.buf[i]);
            break;
        }
    sum_close(me, &s);
}

static void what_is_gathered_is_not_rounded(void **state)
{
    (void)state;
    run_everywhere(shares_travel_in_float32);
}

/* Whose share has an element that is not finite knows it after the first half; marked by its
 * first, all ranks after the second. */
static void one_is_not_finite(struct rank *me)
{
    enum { COUNT = 40000 };
    struct sum s = {.count = COUNT};
    ddp_range *ranges;
    size_t count;
    ddp_error err;

    if (me->size == 1)
        return; /* it looks at all of the sum, whatever half */
    sum_open(me, &s);
    rank_expect_ok(me, ddp_work_share(s.work, &ranges, &count, &err), &err);
    for (int round = 0; round <= me->size; round++) {
        size_t bad = COUNT / 7 * (size_t)(round % 7);
        int own = 0, broken = round < me->size;

        for (size_t i = 0; i < COUNT; i++)
            s.buf[i] = reference_value(me->rank, 0, i);
        if (round == me->rank)
            s.buf[bad] = INFINITY;
        rank_expect_ok(me, ddp_work_start_phase(s.work, DDP_REDUCE_SCATTER, &err), &err);
        rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
        for (size_t i = 0; i < count; i++)
            own |= broken && ranges[i].begin <= bad && bad < ranges[i].end;
        if (own && ddp_work_finite(s.work))
            rank_wrong(me, "round %d: its share is not finite, and it does not know", round);
        for (size_t i = 0; i < count; i++)
            for (size_t k = ranges[i].begin; k < ranges[i].end; k++)
                s.buf[k] = own ? NAN : 1;
        rank_expect_ok(me, ddp_work_start_phase(s.work, DDP_ALL_GATHER, &err), &err);
        rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
        if (ddp_work_finite(s.work) == broken)
            rank_wrong(me, "round %d: finite is %d", round, !broken);
    }
    free(ranges);
    sum_close(me, &s);
}

static void every_rank_learns_of_a_share_that_is_not_finite(void **state)
{
    (void)state;
    run_everywhere(one_is_not_finite);
}

/* Together they send what a whole sum does. */
static void count_bytes(struct rank *me)
{
    enum { COUNT = 4 * CHUNK };
    struct sum s = {.count = COUNT};
    uint64_t before, whole, both;
    ddp_error err;

    sum_open(me, &s);
    before = ddp_group_traffic(me->group).bytes;
    sum_start(me, &s);
    rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
    whole = ddp_group_traffic(me->group).bytes - before;
    start(me, &s, DDP_REDUCE_SCATTER);
    rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
    start(me, &s, DDP_ALL_GATHER);
    rank_expect_ok(me, ddp_work_wait(s.work, &err), &err);
    both = ddp_group_traffic(me->group).bytes - before - whole;
    if (both != whole)
        rank_wrong(me, "%llu bytes in halves, %llu in one", (unsigned long long)both,
                   (unsigned long long)whole);
    sum_close(me, &s);
}

static void halves_send_what_a_whole_sum_does(void **state)
{
    (void)state;
    run_everywhere(count_bytes);
}

/* Rank 1 does not come to the second half. */
static void late_half(struct rank *me)
{
    static float bufs[RANKS_MAX][5000]; /* outlive the threads, like a failed send */
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, bufs[me->rank], 5000, &err), &err);
    rank_expect_ok(me, ddp_work_start_phase(w, DDP_REDUCE_SCATTER, &err), &err);
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    ddp_group_set_timeout(me->group, 300000000);
    if (me->rank != 1) {
        ddp_status st;

        rank_expect_ok(me, ddp_work_start_phase(w, DDP_ALL_GATHER, &err), &err);
        st = ddp_work_wait(w, &err);
        if (st != DDP_ERR_COMM || !strstr(err.text, "no message from rank 1 "))
            rank_wrong(me, "status %d: %s", st, st ? err.text : "");
    }
    rank_meet(me);
    ddp_work_close(w);
}

static void timeout_names_who_is_late_with_its_share(void **state)
{
    static const int together[] = {3};

    (void)state;
    ranks_run(3, late_half, NULL);
    ranks_run_levels(together, 1, 0, late_half, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_halves_have_the_bits_of_the_whole),
        cmocka_unit_test(what_is_gathered_is_not_rounded),
        cmocka_unit_test(every_rank_learns_of_a_share_that_is_not_finite),
        cmocka_unit_test(halves_send_what_a_whole_sum_does),
        cmocka_unit_test(timeout_names_who_is_late_with_its_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
