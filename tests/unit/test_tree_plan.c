/* ddp-test: quick */
/* Plans of ordered sums by NCCL at sizes that no test can run: what comes together, where it lies,
 * and how many ranks are too many. (That the sums are right: sums.nccl on GPUs.) */
#include "comm/work.h"
#include "device/float8.h"
#include "nccl/tree_plan.h"
#include "numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MOST_HOSTS = 4096, RADIX = 8, KERNEL_PARTS = 2048, COUNT = 1000003 };

static struct ddp_rank_hosts hosts_of(int count, int ranks)
{
    static int first[MOST_HOSTS + 1];

    assert_in_range(count, 1, MOST_HOSTS);
    for (int h = 0; h <= count; h++)
        first[h] = h * ranks;
    return (struct ddp_rank_hosts){count, first};
}

static struct ddp_nccl_plan *plan_of(struct ddp_rank_hosts hosts, int rank, int radix,
                                     int most_addends)
{
    struct ddp_nccl_plan *p;
    ddp_error err;

    if (ddp_nccl_plan_open(&p, &hosts, rank, radix, most_addends, &err))
        fail_msg("%s", err.text);
    return p;
}

/* A rank's share is the pieces of its last level, one behind the other; returns its elements. */
static size_t check_share(const struct ddp_nccl_plan *p)
{
    ddp_range *ranges;
    size_t count, elements = 0, at = 0;
    ddp_error err;

    assert_int_equal(ddp_nccl_plan_share(p, COUNT, &ranges, &count, &err), DDP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_at_least(ranges[i].begin, at);
        assert_greater(ranges[i].end, ranges[i].begin);
        at = ranges[i].end;
        elements += ranges[i].end - ranges[i].begin;
    }
    assert_at_most(at, COUNT);
    free(ranges);
    return elements;
}

static void a_kernel_adds_no_more_parts_than_it_can(void **state)
{
    struct ddp_nccl_plan *p;
    ddp_error err;

    (void)state;
    ddp_nccl_plan_close(plan_of(hosts_of(KERNEL_PARTS, 1), 7, 0, KERNEL_PARTS));
    for (int ranks = 1; ranks <= 8; ranks *= 8) {
        struct ddp_rank_hosts hosts = hosts_of(KERNEL_PARTS + 8, ranks);

        assert_int_equal(ddp_nccl_plan_open(&p, &hosts, 7, 0, KERNEL_PARTS, &err), DDP_ERR_USAGE);
        assert_null(p);
        assert_non_null(strstr(err.text, "add up to 2048: sum them by levels"));
        ddp_nccl_plan_close(plan_of(hosts, 7, RADIX, KERNEL_PARTS));
    }
}

/* NCCL sums then, and this plan only brings back what ranks have updated. */
static void where_nothing_is_added_no_ranks_are_too_many(void **state)
{
    size_t elements = 0;

    (void)state;
    for (int rank = 0; rank < MOST_HOSTS; rank += 5) {
        struct ddp_nccl_plan *p = plan_of(hosts_of(MOST_HOSTS, 1), rank, 0, 0);

        assert_string_equal(p->schedule, "direct");
        assert_int_equal(p->route->stages, 1);
        assert_int_equal(p->route->stage[0].transfer_count, 2 * (MOST_HOSTS - 1));
        assert_int_equal(p->levels[1].addend_count, MOST_HOSTS);
        assert_int_equal(p->levels[1].sum_count, 1);
        assert_int_equal(ddp_nccl_level_addend(&p->levels[1], rank), rank);
        elements = check_share(p);
        assert_in_range(elements, COUNT / MOST_HOSTS - DDP_WIRE_BLOCK,
                        COUNT / MOST_HOSTS + DDP_WIRE_BLOCK + 1);
        ddp_nccl_plan_close(p);
    }
}

/* Check the scratch of all pieces' parts and sums, in turn: each begins where the one before it
 * ends. */
static void check_scratch(const struct ddp_nccl_plan *p)
{
    size_t at = 0;

    for (int l = 0; l <= p->route->stages; l++) {
        const struct ddp_nccl_level *level = &p->levels[l];

        for (int i = 0; i < level->slice_count && level->addend_count > 1; i++)
            for (int part = 0; part < level->addend_count; part++) {
                assert_int_equal(ddp_nccl_plan_addend(p, COUNT, l, i, part), at);
                at += ddp_nccl_plan_slice(p, COUNT, l, i).count;
            }
        for (int i = 0; i < level->slice_count && level->sum_count > 1; i++)
            for (int k = 0; k < level->sum_count; k++) {
                assert_int_equal(ddp_nccl_plan_sum(p, COUNT, l, i, k), at);
                at += ddp_nccl_plan_slice(p, COUNT, l, i).count;
            }
    }
    assert_int_equal(ddp_nccl_plan_scratch(p, COUNT), at);
}

static void parts_lie_side_by_side_and_shares_are_the_whole(void **state)
{
    (void)state;
    for (int hosts = 1; hosts <= 20; hosts++)
        for (int ranks = 1; ranks <= 6; ranks++)
            for (int radix = 0; radix <= RADIX; radix += 4) {
                size_t elements = 0;

                for (int rank = 0; rank < hosts * ranks; rank++) {
                    struct ddp_nccl_plan *p =
                        plan_of(hosts_of(hosts, ranks), rank, radix, KERNEL_PARTS);

                    check_scratch(p);
                    assert_int_equal(p->levels[p->route->stages].sum_count, 1);
                    elements += check_share(p);
                    ddp_nccl_plan_close(p);
                }
                assert_int_equal(elements, COUNT);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_adds_no_more_parts_than_it_can),
        cmocka_unit_test(where_nothing_is_added_no_ranks_are_too_many),
        cmocka_unit_test(parts_lie_side_by_side_and_shares_are_the_whole),
    };

    return cmocka_run_group_tests_name("nccl plan", tests, NULL, NULL);
}
