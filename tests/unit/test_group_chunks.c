/* ddp-test: quick tsan */
/* How long chunks are, and that sums of any number of them have the same bits. */
#include "comm/chunk.h"
#include "comm/chunk_sizes.h"
#include "comm/hierarchical_plan.h"
#include "numbers.h"

#include "sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static const struct hosts_shape shapes[] = {{1, 0, {3}},
                                            {2, 0, {1, 1}},
                                            {2, 0, {2, 2}},
                                            {3, 2, {2, 1, 4}},
                                            {9, 3, {1, 1, 1, 1, 1, 1, 1, 1, 1}}};

enum { SHAPES = sizeof shapes / sizeof *shapes, CHUNK = 512 * KIB / sizeof(float) };

/* Of more chunks than three ranks have in flight, of one and a few floats, and of less than one;
 * some as 16 bits a number. */
static void sum_all(struct rank *me)
{
    struct sum s[] = {{.number = 0, .count = (size_t)7 * CHUNK + 11},
                      {.number = 1, .count = 3},
                      {.number = 2, .count = (size_t)2 * CHUNK + 5},
                      {.number = 4, .count = CHUNK + 1},
                      {.number = 5, .count = 1500}};

    if (me->size > 1) /* else nothing travels, and nothing is rounded */
        s[2].wire = DDP_WIRE_BF16;
    sums_together(me, s, sizeof s / sizeof *s);
}

static void sums_of_any_number_of_chunks_have_the_same_bits(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 4; ranks++)
        ranks_run(ranks, sum_all, NULL);
    ranks_run_shapes(shapes, SHAPES, sum_all);
}

/* Of more than two ranks on two hosts have in flight. */
static void sum_long(struct rank *me)
{
    struct sum s = {.number = 0, .count = (size_t)17 * CHUNK + 3};

    sums_together(me, &s, 1);
}

static void a_sum_of_more_chunks_than_are_in_flight_has_the_same_bits(void **state)
{
    static const struct hosts_shape two = {2, 0, {2, 1}};

    (void)state;
    ranks_run(2, sum_long, NULL);
    ranks_run_shapes(&two, 1, sum_long);
}

static void expect(ddp_chunks c, size_t bytes, int window)
{
    if (c.bytes != bytes || c.window != window)
        fail_msg("%zu bytes, %d, not %zu and %d", c.bytes, c.window, bytes, window);
}

static void chunks_are_longer_and_fewer_for_more_ranks(void **state)
{
    (void)state;
    expect(ddp_direct_chunks(2), 512 * KIB, DDP_CHUNKS_MOST);
    expect(ddp_direct_chunks(3), 512 * KIB, 6);
    expect(ddp_direct_chunks(8), MIB, 4);
    expect(ddp_direct_chunks(1000), 8 * MIB, 4);
    expect(ddp_hierarchical_chunks(8, 1), 512 * KIB, 8);
    expect(ddp_hierarchical_chunks(4, 2), MIB, 8);
    expect(ddp_hierarchical_chunks(20, 2), 1280 * KIB, 6);
    expect(ddp_hierarchical_chunks(32, 4), 2 * MIB, 4);
    expect(ddp_hierarchical_chunks(1000, 125), 4 * MIB, 4);
}

static void check_messages(const struct hosts_shape *shape, int rank)
{
    int first[21] = {0};
    struct ddp_rank_hosts hosts = {shape->hosts, first};
    struct ddp_hierarchical_plan *plan;
    size_t chunk;
    ddp_error err;

    for (int h = 0; h < hosts.count; h++)
        first[h + 1] = first[h] + shape->ranks[h];
    chunk = ddp_hierarchical_chunks(first[hosts.count], hosts.count).bytes / sizeof(float);
    assert_int_equal(ddp_hierarchical_plan_open(&plan, &hosts, rank, DDP_HIERARCHICAL_RADIX, &err),
                     DDP_OK);
    for (int s = 0; s < plan->stages; s++)
        for (int t = 0; t < plan->stage[s].transfer_count; t++) {
            struct ddp_slice slice =
                ddp_hierarchical_plan_slice(plan, chunk, plan->stage[s].transfers[t].units);

            /* where a chunk does not divide, a block more */
            assert_at_most(slice.count, DDP_CHUNK_MESSAGE_BYTES / sizeof(float) + DDP_WIRE_BLOCK);
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
        cmocka_unit_test(sums_of_any_number_of_chunks_have_the_same_bits),
        cmocka_unit_test(a_sum_of_more_chunks_than_are_in_flight_has_the_same_bits),
        cmocka_unit_test(chunks_are_longer_and_fewer_for_more_ranks),
        cmocka_unit_test(no_message_between_hosts_is_longer_than_suits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
