/* Chunks of any length, and any number of them in flight: the same bits, also when they change
 * between sums, when they may not, and the limits within which they are as wished. */
#include "comm/chunk.h"
#include "comm/chunk_sizes.h"
#include "comm/hierarchical_plan.h"
#include "numbers.h"

#include "sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static const struct hosts_shape shapes[] = {{1, 0, {3}},
                                            {2, 0, {1, 1}},
                                            {2, 0, {2, 2}},
                                            {3, 2, {2, 1, 4}},
                                            {9, 3, {1, 1, 1, 1, 1, 1, 1, 1, 1}}};

static const ddp_chunks wishes[] = {{0}, {4096, 1}, {8192, 32}, {0, 2}, {5000, 3}, {2 * MIB, 0}};

enum { SHAPES = sizeof shapes / sizeof *shapes, WISHES = sizeof wishes / sizeof *wishes };

/* Of more chunks than are in flight, and of less than one; some as 16 bits a number. */
static void sum_anew(struct rank *me)
{
    struct sum s[] = {{.number = 0, .count = 20011},
                      {.number = 1, .count = 3},
                      {.number = 2, .count = 7000},
                      {.number = 4, .count = 1500}};

    if (me->size > 1) /* else nothing travels, and nothing is rounded */
        s[2].wire = DDP_WIRE_BF16;
    sums_together(me, s, sizeof s / sizeof *s);
}

/* Another rank than 0 may wish what it likes. */
static void wish(struct rank *me, ddp_chunks chunks)
{
    ddp_chunk_limits limits = ddp_group_chunk_limits(me->group);
    ddp_chunks want = {0}, got;
    ddp_error err;

    if (me->size > 1)
        want = ddp_chunks_within(&limits, chunks);
    if (me->rank > 0)
        chunks.window += me->rank;
    rank_expect_ok(me, ddp_group_use_chunks(me->group, chunks, &err), &err);
    got = ddp_group_chunks(me->group);
    if (got.bytes != want.bytes || got.window != want.window)
        rank_wrong(me, "%d chunks of %zu bytes, not %d of %zu", got.window, got.bytes, want.window,
                   want.bytes);
}

static void change_chunks(struct rank *me)
{
    for (size_t i = 0; i < WISHES; i++) {
        wish(me, wishes[i]);
        sum_anew(me);
    }
    wish(me, wishes[0]);
}

static void any_chunks_have_the_same_bits(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 4; ranks++)
        ranks_run(ranks, change_chunks, NULL);
    ranks_run_shapes(shapes, SHAPES, change_chunks);
}

/* How many messages a sum takes says how many chunks it had. */
static void count_messages(struct rank *me)
{
    enum { COUNT = 16 * KIB };
    static float bufs[RANKS_MAX][COUNT];
    uint64_t before, each;
    ddp_allreduce *a;
    ddp_error err;

    wish(me, (ddp_chunks){COUNT * sizeof(float), 4});
    rank_expect_ok(me, ddp_allreduce_open(&a, me->group, bufs[me->rank], COUNT, &err), &err);
    rank_expect_ok(me, ddp_allreduce_start(a, &err), &err);
    rank_expect_ok(me, ddp_allreduce_wait(a, &err), &err);
    each = ddp_group_traffic(me->group).messages;
    for (size_t chunks = 2; chunks <= 16; chunks *= 2) {
        wish(me, (ddp_chunks){COUNT * sizeof(float) / chunks, 4});
        before = ddp_group_traffic(me->group).messages;
        rank_expect_ok(me, ddp_allreduce_start(a, &err), &err); /* opened before */
        rank_expect_ok(me, ddp_allreduce_wait(a, &err), &err);
        if (ddp_group_traffic(me->group).messages - before != chunks * each)
            rank_wrong(me, "%zu chunks: %llu messages", chunks,
                       (unsigned long long)(ddp_group_traffic(me->group).messages - before));
    }
    rank_meet(me);
    ddp_allreduce_close(a);
}

static void sums_that_are_open_are_cut_as_wished(void **state)
{
    (void)state;
    ranks_run(2, count_messages, NULL);
}

static void change_too_early(struct rank *me)
{
    static float bufs[2][10];
    ddp_allreduce *a;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&a, me->group, bufs[me->rank], 10, &err), &err);
    if (me->rank == 0) { /* the other has not started it */
        rank_expect_ok(me, ddp_allreduce_start(a, &err), &err);
        rank_expect_error(me, ddp_group_use_chunks(me->group, (ddp_chunks){4096, 2}, &err), &err,
                          DDP_ERR_USAGE, "chunks cannot change while a sum is in flight");
    }
    rank_meet(me);
    if (me->rank == 1)
        rank_expect_ok(me, ddp_allreduce_start(a, &err), &err);
    rank_expect_ok(me, ddp_allreduce_wait(a, &err), &err);
    rank_meet(me);
    ddp_allreduce_close(a);
}

static void chunks_stay_while_a_sum_is_in_flight(void **state)
{
    (void)state;
    ranks_run(2, change_too_early, NULL);
}

static void expect_refused(struct rank *me)
{
    ddp_chunks before = ddp_group_chunks(me->group), now;
    ddp_error err;

    rank_expect_error(me, ddp_group_use_chunks(me->group, (ddp_chunks){4096, 2}, &err), &err,
                      DDP_ERR_USAGE, "chunks cannot change between the halves of a sum");
    now = ddp_group_chunks(me->group);
    if (now.bytes != before.bytes || now.window != before.window)
        rank_wrong(me, "they did, to %d of %zu bytes", now.window, now.bytes);
}

static void make_half(struct rank *me, struct sum *s, ddp_allreduce_phase half)
{
    ddp_error err;

    for (size_t i = 0; half != DDP_ALL_GATHER && i < s->count; i++)
        s->buf[i] = (float)(me->rank + 1);
    rank_expect_ok(me, ddp_allreduce_start_phase(s->a, half, &err), &err);
    rank_expect_ok(me, ddp_allreduce_wait(s->a, &err), &err);
}

/* Of two sums, each of which may lose its first half: to another one, to a whole sum, or as it is
 * closed. */
static void change_between_halves(struct rank *me)
{
    enum { COUNT = 20000 };
    struct sum s[2] = {{.number = 0, .count = COUNT}, {.number = 1, .count = COUNT}};

    for (int i = 0; i < 2; i++)
        sum_open(me, &s[i]);
    make_half(me, &s[0], DDP_REDUCE_SCATTER);
    expect_refused(me);
    make_half(me, &s[1], DDP_REDUCE_SCATTER);
    make_half(me, &s[1], DDP_REDUCE_SCATTER);
    make_half(me, &s[0], DDP_ALL_GATHER);
    expect_refused(me);
    make_half(me, &s[1], DDP_ALLREDUCE);
    wish(me, (ddp_chunks){4096, 2});
    make_half(me, &s[0], DDP_REDUCE_SCATTER);
    expect_refused(me);
    for (int i = 0; i < 2; i++)
        sum_close(me, &s[i]);
    wish(me, (ddp_chunks){8192, 2});
    sum_anew(me);
}

static void chunks_stay_between_the_halves_of_a_sum(void **state)
{
    (void)state;
    ranks_run(2, change_between_halves, NULL);
    ranks_run_shapes(shapes, SHAPES, change_between_halves);
}

/* 16 MiB of slots for two ranks: as many as can be shared here. */
static void ask_for_too_much(struct rank *me)
{
    const ddp_chunks many = {MIB, 16}, few = {512 * KIB, 2};
    ddp_chunks got;
    ddp_error err;

    rank_expect_ok(me, ddp_group_use_chunks(me->group, many, &err), &err);
    got = ddp_group_chunks(me->group);
    if (got.bytes != MIB || got.window != 8)
        rank_wrong(me, "%d chunks of %zu bytes, not as they were", got.window, got.bytes);
    sum_anew(me);
    wish(me, few);
    sum_anew(me);
}

static void chunks_stay_where_no_memory_can_be_shared_for_them(void **state)
{
    static const int ranks[] = {2, 2};
    struct rlimit as_is, limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &as_is), 0);
    limit = as_is;
    limit.rlim_cur = 20 * MIB; /* memory that is shared is a file */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ranks_run_levels(ranks, 2, 0, ask_for_too_much, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &as_is), 0);
}

static void expect(ddp_chunk_limits l, ddp_chunks wish, size_t bytes, int window)
{
    ddp_chunks c = ddp_chunks_within(&l, wish);

    if (c.bytes != bytes || c.window != window)
        fail_msg("%zu bytes, %d: %zu bytes, %d, not %zu and %d", wish.bytes, wish.window, c.bytes,
                 c.window, bytes, window);
}

static void what_suits_is_taken_where_nothing_is_wished(void **state)
{
    const ddp_chunks nothing = {0};

    (void)state;
    expect(ddp_direct_chunks(2), nothing, 512 * KIB, 16);
    expect(ddp_direct_chunks(3), nothing, 512 * KIB, 6);
    expect(ddp_direct_chunks(8), nothing, MIB, 4);
    expect(ddp_direct_chunks(1000), nothing, 8 * MIB, 4);
    expect(ddp_hierarchical_chunks(8, 1), nothing, 512 * KIB, 8);
    expect(ddp_hierarchical_chunks(4, 2), nothing, MIB, 8);
    expect(ddp_hierarchical_chunks(20, 2), nothing, 1280 * KIB, 6);
    expect(ddp_hierarchical_chunks(32, 4), nothing, 2 * MIB, 4);
    expect(ddp_hierarchical_chunks(1000, 125), nothing, 4 * MIB, 4);
}

static void wishes_are_brought_within_limits(void **state)
{
    (void)state;
    expect(ddp_direct_chunks(2), (ddp_chunks){256 * KIB, 32}, 256 * KIB, 32);
    expect(ddp_direct_chunks(2), (ddp_chunks){MIB, 99}, 512 * KIB, DDP_CHUNKS_MOST);
    expect(ddp_direct_chunks(3), (ddp_chunks){MIB, 0}, MIB, 6);
    expect(ddp_direct_chunks(3), (ddp_chunks){2 * MIB, 1}, 3 * 512 * KIB, 1);
    expect(ddp_hierarchical_chunks(4, 2), (ddp_chunks){1, 0}, 4096, 8);
    expect(ddp_hierarchical_chunks(4, 2), (ddp_chunks){9 * MIB, 3}, 2 * MIB, 3);
    expect(ddp_hierarchical_chunks(4, 1), (ddp_chunks){9 * MIB, 3}, 4 * MIB, 3);
    expect(ddp_hierarchical_chunks(2, 2), (ddp_chunks){9 * MIB, 3}, MIB, 3);
    expect(ddp_hierarchical_chunks(9, 9), (ddp_chunks){9 * MIB, 3}, 4 * MIB, 3);
    expect(ddp_hierarchical_chunks(4, 2), (ddp_chunks){5000, 3}, 4992, 3);
}

/* Of chunks as long as can be. */
static void check_messages(const struct hosts_shape *shape, int rank)
{
    int first[21] = {0};
    struct ddp_rank_hosts hosts = {shape->hosts, first};
    struct ddp_hierarchical_plan *plan;
    size_t chunk;
    ddp_error err;

    for (int h = 0; h < hosts.count; h++)
        first[h + 1] = first[h] + shape->ranks[h];
    chunk = ddp_hierarchical_chunks(first[hosts.count], hosts.count).most_bytes / sizeof(float);
    assert_int_equal(ddp_hierarchical_plan_open(&plan, &hosts, rank, DDP_HIERARCHICAL_RADIX, &err),
                     DDP_OK);
    for (int s = 0; s < plan->stages; s++)
        for (int t = 0; t < plan->stage[s].transfer_count; t++) {
            struct ddp_span units = plan->stage[s].transfers[t].units;
            size_t count =
                ddp_unit_begin(plan, chunk, units.end) - ddp_unit_begin(plan, chunk, units.begin);

            /* where a chunk does not divide, one number more */
            assert_at_most(count, DDP_EXCHANGE_MESSAGE_BYTES / sizeof(float) + 1);
        }
    ddp_hierarchical_plan_close(plan);
}

static void no_message_between_hosts_is_longer_than_suits(void **state)
{
    static const struct hosts_shape all[] = {{2, 0, {1, 1}},
                                             {2, 0, {1, 3}},
                                             {2, 0, {4, 4}},
                                             {3, 0, {1, 1, 1}},
                                             {3, 0, {2, 1, 4}},
                                             {8, 0, {1, 1, 1, 1, 1, 1, 1, 1}},
                                             {10, 0, {1, 1, 1, 1, 2, 1, 1, 1, 1, 1}}};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_messages(&all[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_chunks_have_the_same_bits),
        cmocka_unit_test(sums_that_are_open_are_cut_as_wished),
        cmocka_unit_test(chunks_stay_while_a_sum_is_in_flight),
        cmocka_unit_test(chunks_stay_between_the_halves_of_a_sum),
        cmocka_unit_test(chunks_stay_where_no_memory_can_be_shared_for_them),
        cmocka_unit_test(what_suits_is_taken_where_nothing_is_wished),
        cmocka_unit_test(wishes_are_brought_within_limits),
        cmocka_unit_test(no_message_between_hosts_is_longer_than_suits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
