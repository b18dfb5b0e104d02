/* ddp-test: quick */
/* The share of its time that each rank waits, as all ranks learn it. */
#include "base/clock.h"
#include "ranks.h"
#include "show/wait_shares.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void pass_time(void)
{
    const struct timespec while_ranks_compute = {.tv_nsec = 20000000};

    (void)nanosleep(&while_ranks_compute, NULL);
}

/* All wait but for rank 1, which all others wait for. */
static int64_t waited_by(const struct rank *me)
{
    return me->rank == 1 ? 0 : INT64_MAX / 2;
}

static void gather(struct rank *me)
{
    double row[DDP_WAITS_COLUMNS];
    int least, most, *columns = me->shared;
    double share;
    ddp_wait_shares w;
    ddp_error err;

    rank_expect_ok(me, ddp_wait_shares_init(&w, me->group, 0, &err), &err);
    if (ddp_wait_shares_range(&w, &least, &most))
        rank_wrong(me, "a share is known before anything was gathered");
    ddp_wait_shares_fill(&w, row);
    if (!isnan(row[0]))
        rank_wrong(me, "row[0] is %g", row[0]);
    pass_time();
    rank_expect_ok(me, ddp_wait_shares_gather(&w, waited_by(me), &err), &err);
    if (ddp_wait_shares_straggler(&w, &least, &share))
        rank_wrong(me, "a rank holds others up for 10 s after some milliseconds");
    if (!ddp_wait_shares_range(&w, &least, &most) || least != 1 || most != 0)
        rank_wrong(me, "least %d, most %d", least, most);
    ddp_wait_shares_fill(&w, row);
    for (int i = 0; i < DDP_WAITS_COLUMNS; i++)
        if (i >= *columns ? !isnan(row[i]) : row[i] != (i != 1))
            rank_wrong(me, "row[%d] is %g", i, row[i]);
    w.at_ns -= (int64_t)12e9;
    w.waited_ns = 0;
    rank_expect_ok(me, ddp_wait_shares_gather(&w, waited_by(me), &err), &err);
    if (!ddp_wait_shares_straggler(&w, &least, &share) || least != 1 || share < .99)
        rank_wrong(me, "rank 1 holds the others up, and it is rank %d with %g", least, share);
    if (ddp_wait_shares_straggler(&w, &least, &share))
        rank_wrong(me, "it is told twice");
    ddp_wait_shares_release(&w);
}

static void a_rank_that_waits_for_none_is_known_to_all(void **state)
{
    (void)state;
    for (int size = 2; size <= DDP_WAITS_COLUMNS; size++)
        ranks_run(size, gather, &size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_waits_for_none_is_known_to_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
