/* ddp-test: quick tsan */
/* A group of several ranks, of which one is late, gone or wrong. */
#include "comm/collectives.h"
#include "comm/group.h"
#include "comm/work.h"

#include "ranks.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { COUNT = 50000 };

/* The call should have failed, saying `before`, the host of rank 2, `after`. */
static void expect_late(struct rank *me, ddp_status st, const ddp_error *err, const char *before,
                        const char *after)
{
    char want[sizeof err->text];

    (void)snprintf(want, sizeof want, "%s%s%s", before, ddp_group_host(me->group, 2), after);
    rank_expect_error(me, st, err, DDP_ERR_COMM, want);
}

static void late_sum(struct rank *me)
{
    static float bufs[RANKS_MAX][COUNT]; /* outlive the threads, like a failed send */
    float *buf = bufs[me->rank];
    ddp_work *first, *second;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&first, me->group, buf, 100, &err), &err);
    rank_expect_ok(me, ddp_allreduce_open(&second, me->group, buf + 100, COUNT - 100, &err), &err);
    rank_expect_ok(me, ddp_work_start(first, &err), &err);
    rank_expect_ok(me, ddp_work_wait(first, &err), &err);
    if (me->rank != 2)
        rank_expect_ok(me, ddp_work_start(second, &err), &err);
    rank_meet(me); /* now rank 2 alone owes something, however slow the machine is */
    ddp_group_set_timeout(me->group, 200000000);
    if (me->rank != 2) {
        expect_late(me, ddp_work_wait(second, &err), &err, "no message from rank 2 (host ",
                    ") for 0.2 s, sum 2 of 2");
        expect_late(me, ddp_barrier(me->group, &err), &err,
                    "the group failed earlier: no message from rank 2 (host ",
                    ") for 0.2 s, sum 2 of 2");
    }
    ddp_work_close(first);
    ddp_work_close(second);
}

static void timeout_of_a_sum_names_the_late_rank(void **state)
{
    (void)state;
    ranks_run(3, late_sum, NULL);
    ranks_run(7, late_sum, NULL);
}

static void late_barrier(struct rank *me)
{
    ddp_error err;

    ddp_group_set_timeout(me->group, 2000000000); /* for the others to begin */
    rank_meet(me);
    if (me->rank != 2)
        expect_late(me, ddp_barrier(me->group, &err), &err,
                    "barrier: no message from rank 2 (host ", ") for 2 s");
}

static void timeout_of_a_barrier_names_the_late_rank(void **state)
{
    (void)state;
    ranks_run(4, late_barrier, NULL);
}

/* Ctrl-Z: all ranks stop for longer than they wait for a message. */
static void stop_and_go_on(void)
{
    static const struct timespec before = {.tv_nsec = 200000000}, while_stopped = {.tv_sec = 3};
    pid_t ranks = getpid();

    if (fork() != 0)
        return;
    (void)nanosleep(&before, NULL);
    (void)kill(ranks, SIGSTOP);
    (void)nanosleep(&while_stopped, NULL);
    (void)kill(ranks, SIGCONT);
    _exit(0);
}

static void barrier_while_stopped(struct rank *me)
{
    static const struct timespec a_while = {.tv_nsec = 10000000};
    ddp_error err;

    ddp_group_set_timeout(me->group, 2000000000);
    rank_meet(me);
    if (me->rank == 0)
        stop_and_go_on();
    for (int i = 0; me->rank == 1 && i < 100; i++) /* of which most pass after the stop */
        (void)nanosleep(&a_while, NULL);
    rank_expect_ok(me, ddp_barrier(me->group, &err), &err);
}

static void time_in_which_all_are_stopped_does_not_count(void **state)
{
    (void)state;
    ranks_run(2, barrier_while_stopped, NULL);
    (void)wait(NULL);
}

static void unequal_sums(struct rank *me)
{
    static float bufs[RANKS_MAX][8]; /* outlive the threads, like a failed send */
    float *buf = bufs[me->rank];
    size_t count = me->rank == 2 ? 8 : 7;
    ddp_work *w;
    ddp_status st;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, count, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_meet(me);
    ddp_group_set_timeout(me->group, 500000000);
    st = ddp_work_wait(w, &err);
    if (st != DDP_ERR_COMM)
        rank_wrong(me, "status %d of a sum that rank 2 has another length for", st);
    else if (me->rank != 2 && strcmp(err.text, "rank 2 sent 32 bytes where 28 are due") != 0)
        expect_late(me, st, &err, "no message from rank 2 (host ", ") for 0.5 s, sum 1 of 1");
    ddp_work_close(w);
}

static void sums_of_unequal_length_fail(void **state)
{
    (void)state;
    ranks_run(3, unequal_sums, NULL);
}

static void abort_while_others_wait(struct rank *me)
{
    ddp_error err;

    if (me->rank == 1) {
        ddp_group_abort(me->group, 9);
        return;
    }
    rank_expect_error(me, ddp_barrier(me->group, &err), &err, DDP_ERR_COMM,
                      "barrier: rank 1 aborted with status 9");
}

static void abort_ends_the_others_waits(void **state)
{
    (void)state;
    ranks_run(3, abort_while_others_wait, NULL);
}

static void start_twice(struct rank *me)
{
    float buf[2] = {1, 2};
    ddp_work *w;
    ddp_error err;

    rank_expect_ok(me, ddp_allreduce_open(&w, me->group, buf, 2, &err), &err);
    rank_expect_ok(me, ddp_work_start(w, &err), &err);
    rank_expect_error(me, ddp_work_start(w, &err), &err, DDP_ERR_USAGE,
                      "sum 1 is in flight already");
    rank_expect_ok(me, ddp_work_wait(w, &err), &err);
    if (buf[0] != 2 || buf[1] != 4)
        rank_wrong(me, "the sum is %g and %g, not 2 and 4", (double)buf[0], (double)buf[1]);
    ddp_work_close(w);
}

static void start_refuses_a_sum_in_flight(void **state)
{
    (void)state;
    ranks_run(2, start_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeout_of_a_sum_names_the_late_rank),
        cmocka_unit_test(timeout_of_a_barrier_names_the_late_rank),
        cmocka_unit_test(time_in_which_all_are_stopped_does_not_count),
        cmocka_unit_test(sums_of_unequal_length_fail),
        cmocka_unit_test(abort_ends_the_others_waits),
        cmocka_unit_test(start_refuses_a_sum_in_flight),
    };

    return cmocka_run_group_tests_name("group failures", tests, NULL, NULL);
}
