/* ddp-test: quick */
/* Plans of sums by levels: those of all ranks fit together, at sizes that no test can run, and
 * which way is taken for which hosts. */
#include "comm/hierarchical_plan.h"
#include "comm/schedule_cost.h"
#include "numbers.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MOST_HOSTS = 1200, RADIX = 8 };

static struct ddp_rank_hosts hosts_of(int count, int ranks, int more_on_last)
{
    static int first[MOST_HOSTS + 1];

    assert_in_range(count, 1, MOST_HOSTS);
    for (int h = 0; h <= count; h++)
        first[h] = h * ranks;
    first[count] += more_on_last;
    return (struct ddp_rank_hosts){count, first};
}

static int host_of(const struct ddp_rank_hosts *hosts, int rank)
{
    int h = 0;

    while (rank >= hosts->first[h + 1])
        h++;
    return h;
}

/* Check what rank `peer` does with `rank` in a stage, in order: the same parts, in the other
 * direction. */
static void check_mirrored(const struct ddp_hierarchical_plan *mine,
                           const struct ddp_hierarchical_plan *theirs, int rank, int peer, int s)
{
    const struct ddp_stage *a = &mine->stage[s], *b = &theirs->stage[s];
    int j = 0;

    for (int i = 0; i < a->transfer_count; i++) {
        const struct ddp_stage_transfer *x = &a->transfers[i], *y;

        if (x->peer != peer || x->incoming)
            continue;
        while (j < b->transfer_count && (b->transfers[j].peer != rank || !b->transfers[j].incoming))
            j++;
        assert_less(j, b->transfer_count);
        y = &b->transfers[j++];
        assert_int_equal(x->units.begin, y->units.begin);
        assert_int_equal(x->units.end, y->units.end);
        assert_memory_equal(&x->ranks, &y->ranks, sizeof x->ranks);
        assert_memory_equal(&x->ranks, &a->ranks, sizeof x->ranks);
    }
    for (; j < b->transfer_count; j++)
        assert_false(b->transfers[j].peer == rank && b->transfers[j].incoming);
}

/* In the end every part is held by one rank, summed over all. */
static void check_end(struct ddp_hierarchical_plan **plans, int size)
{
    int units = plans[0]->units;
    char *held = calloc((size_t)units, 1);

    assert_non_null(held);
    for (int r = 0; r < size; r++) {
        const struct ddp_stage *last = &plans[r]->stage[plans[r]->stages];

        assert_int_equal(plans[r]->units, units);
        assert_int_equal(last->ranks.begin, 0);
        assert_int_equal(last->ranks.end, size);
        for (int i = 0; i < last->held_count; i++)
            for (int unit = last->held[i].begin; unit < last->held[i].end; unit++)
                assert_int_equal(held[unit]++, 0);
    }
    for (int unit = 0; unit < units; unit++)
        assert_int_equal(held[unit], 1);
    free(held);
}

/* Within a host every unit is one rank's lane, and what a rank goes on with is its own. */
static void check_lanes(const struct ddp_hierarchical_plan *plan,
                        const struct ddp_rank_hosts *hosts, int rank)
{
    int host = host_of(hosts, rank), first = hosts->first[host], at = 0;
    const struct ddp_stage *stage = &plan->stage[0];

    for (int r = 0; r < hosts->first[host + 1] - first; r++) {
        assert_int_equal(plan->lanes[r].begin, at);
        assert_greater(plan->lanes[r].end, at);
        at = plan->lanes[r].end;
    }
    assert_int_equal(at, plan->units);
    assert_int_equal(stage->held[0].begin, plan->lanes[rank - first].begin);
    assert_int_equal(stage->held[stage->held_count - 1].end, plan->lanes[rank - first].end);
}

static int peers_of(const struct ddp_hierarchical_plan *plan, const struct ddp_rank_hosts *hosts,
                    int rank)
{
    char seen[16384] = {0};
    int peers = 0;

    for (int s = 0; s < plan->stages; s++)
        for (int t = 0; t < plan->stage[s].transfer_count; t++) {
            int peer = plan->stage[s].transfers[t].peer;

            assert_int_not_equal(host_of(hosts, peer), host_of(hosts, rank));
            peers += !seen[peer]++;
        }
    return peers;
}

static void check_plans(struct ddp_rank_hosts hosts, int radix, int most_peers)
{
    int size = hosts.first[hosts.count];
    struct ddp_hierarchical_plan **plans =
        calloc((size_t)size, sizeof(struct ddp_hierarchical_plan *));
    ddp_error err;

    assert_non_null(plans);
    for (int r = 0; r < size; r++)
        assert_int_equal(ddp_hierarchical_plan_open(&plans[r], &hosts, r, radix, &err), DDP_OK);
    for (int r = 0; r < size; r++) {
        check_lanes(plans[r], &hosts, r);
        assert_at_most(peers_of(plans[r], &hosts, r), most_peers);
        for (int s = 0; s < plans[r]->stages; s++)
            for (int t = 0; t < plans[r]->stage[s].transfer_count; t++) {
                int peer = plans[r]->stage[s].transfers[t].peer;

                check_mirrored(plans[r], plans[peer], r, peer, s);
            }
    }
    check_end(plans, size);
    for (int r = 0; r < size; r++)
        ddp_hierarchical_plan_close(plans[r]);
    free(plans);
}

static void plans_of_all_ranks_fit_together(void **state)
{
    (void)state;
    for (int count = 1; count <= 20; count++)
        for (int ranks = 1; ranks <= 4; ranks++)
            for (int more = 0; more <= 2; more++)
                for (int radix = 2; radix <= RADIX; radix += 3)
                    check_plans(hosts_of(count, ranks, more), radix, INT_MAX);
}

/* 7 in each stage of 8 hosts; more in the last, where a block is incomplete. */
static void a_thousand_ranks_have_few_connections(void **state)
{
    (void)state;
    check_plans(hosts_of(8, 8, 0), RADIX, 7);
    check_plans(hosts_of(64, 8, 0), RADIX, 14);
    check_plans(hosts_of(128, 8, 0), RADIX, 15);
    check_plans(hosts_of(512, 2, 0), RADIX, 21);
    check_plans(hosts_of(1024, 1, 0), RADIX, 22);
    check_plans(hosts_of(100, 8, 3), RADIX, 40);
}

static void levels_are_taken_where_they_pay(void **state)
{
    (void)state;
    for (int hosts = 1; hosts <= 8; hosts++)
        assert_int_equal(
            ddp_hierarchical_is_cheaper(
                &(struct ddp_rank_hosts){hosts, hosts_of(hosts, 1, 0).first}, RADIX, INT_MAX),
            0);
    for (int hosts = 1; hosts <= 64; hosts *= 2)
        for (int ranks = 2; ranks <= 32; ranks *= 2) {
            struct ddp_rank_hosts all = hosts_of(hosts, ranks, 0);

            assert_int_equal(ddp_hierarchical_is_cheaper(&all, RADIX, INT_MAX), 1);
        }
    {
        struct ddp_rank_hosts many = hosts_of(1024, 1, 0), some = hosts_of(16, 1, 0);

        assert_int_equal(ddp_hierarchical_is_cheaper(&many, RADIX, 512), 1);
        assert_int_equal(ddp_hierarchical_is_cheaper(&some, RADIX, 8), 1);
        assert_int_equal(ddp_hierarchical_cost(&many, RADIX).connections, 22);
        assert_int_equal(ddp_direct_cost(&many).connections, 1023);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_of_all_ranks_fit_together),
        cmocka_unit_test(a_thousand_ranks_have_few_connections),
        cmocka_unit_test(levels_are_taken_where_they_pay),
    };

    return cmocka_run_group_tests_name("levels plan", tests, NULL, NULL);
}
