/* A group of several ranks, of which one is late, gone or wrong. */
#include "comm/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

#include "../ranks.h"

enum { COUNT = 50000 };

/* Does err say `before`, the host of rank 2, `after`? */
static int says(const ddp_group *g, const ddp_error *err, const char *before, const char *after)
{
    char want[sizeof err->text];

    (void)snprintf(want, sizeof want, "%s%s%s", before, ddp_group_host(g, 2), after);
    if (err->code == DDP_ERR_COMM && strcmp(want, err->text) == 0)
        return 1;
    (void)fprintf(stderr, "'%s', not '%s'\n", err->text, want);
    return 0;
}

static int late_sum(ddp_group *g)
{
    static float bufs[MAX_RANKS][COUNT]; /* outlive the threads, like a failed send */
    float *buf = bufs[ddp_group_rank(g)];
    ddp_allreduce *first, *second;
    ddp_error err;
    int bad;

    ddp_group_set_timeout(g, 200000000);
    bad = failed(g, ddp_allreduce_open(&first, g, buf, 100, &err), &err);
    bad += failed(g, ddp_allreduce_open(&second, g, buf + 100, COUNT - 100, &err), &err);
    bad += failed(g, ddp_allreduce_start(first, &err), &err);
    bad += failed(g, ddp_allreduce_wait(first, &err), &err);
    if (ddp_group_rank(g) != 2) {
        bad += failed(g, ddp_allreduce_start(second, &err), &err);
        bad += ddp_allreduce_wait(second, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "no message from rank 2 (host ", ") for 0.2 s, sum 2 of 2");
        bad += ddp_barrier(g, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "the group failed earlier: no message from rank 2 (host ",
                     ") for 0.2 s, sum 2 of 2");
    }
    ddp_allreduce_close(first);
    ddp_allreduce_close(second);
    return bad;
}

static void timeout_of_a_sum_names_the_late_rank(void **state)
{
    (void)state;
    run_ranks(3, late_sum);
    run_ranks(7, late_sum);
}

static int late_barrier(ddp_group *g)
{
    ddp_error err;
    int bad = 0;

    ddp_group_set_timeout(g, 200000000);
    if (ddp_group_rank(g) != 2) {
        bad += ddp_barrier(g, &err) != DDP_ERR_COMM;
        bad += !says(g, &err, "barrier: no message from rank 2 (host ", ") for 0.2 s");
    }
    return bad;
}

static void timeout_of_a_barrier_names_the_late_rank(void **state)
{
    (void)state;
    run_ranks(4, late_barrier);
}

static int unequal_sums(ddp_group *g)
{
    static float bufs[MAX_RANKS][8]; /* outlive the threads, like a failed send */
    float *buf = bufs[ddp_group_rank(g)];
    size_t count = ddp_group_rank(g) == 2 ? 8 : 7;
    ddp_allreduce *a;
    ddp_error err;
    int bad;

    ddp_group_set_timeout(g, 500000000);
    bad = failed(g, ddp_allreduce_open(&a, g, buf, count, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += ddp_allreduce_wait(a, &err) != DDP_ERR_COMM;
    if (ddp_group_rank(g) != 2 && strcmp(err.text, "rank 2 sent 32 bytes where 28 are due") != 0)
        bad += !says(g, &err, "no message from rank 2 (host ", ") for 0.5 s, sum 1 of 1");
    ddp_allreduce_close(a);
    return bad;
}

static void sums_of_unequal_length_fail(void **state)
{
    (void)state;
    run_ranks(3, unequal_sums);
}

static int abort_while_others_wait(ddp_group *g)
{
    ddp_error err;

    if (ddp_group_rank(g) == 1) {
        ddp_group_abort(g, 9);
        return 0;
    }
    return ddp_barrier(g, &err) != DDP_ERR_COMM
           || strcmp(err.text, "barrier: rank 1 aborted with status 9") != 0;
}

static void abort_ends_the_others_waits(void **state)
{
    (void)state;
    run_ranks(3, abort_while_others_wait);
}

static int start_twice(ddp_group *g)
{
    float buf[2] = {1, 2};
    ddp_allreduce *a;
    ddp_error err;
    int bad;

    bad = failed(g, ddp_allreduce_open(&a, g, buf, 2, &err), &err);
    bad += failed(g, ddp_allreduce_start(a, &err), &err);
    bad += ddp_allreduce_start(a, &err) != DDP_ERR_USAGE;
    bad += strcmp(err.text, "sum 1 is in flight already") != 0;
    bad += failed(g, ddp_allreduce_wait(a, &err), &err);
    bad += buf[0] != 2 || buf[1] != 4;
    ddp_allreduce_close(a);
    return bad;
}

static void start_refuses_a_sum_in_flight(void **state)
{
    (void)state;
    run_ranks(2, start_twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeout_of_a_sum_names_the_late_rank),
        cmocka_unit_test(timeout_of_a_barrier_names_the_late_rank),
        cmocka_unit_test(sums_of_unequal_length_fail),
        cmocka_unit_test(abort_ends_the_others_waits),
        cmocka_unit_test(start_refuses_a_sum_in_flight),
    };

    return cmocka_run_group_tests_name("group failures", tests, NULL, NULL);
}
