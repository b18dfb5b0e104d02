/* ddp-test: quick */
/* How a rank waits beside others on few cores. */
#include "base/clock.h"
#include "comm/backoff.h"
#include "numbers.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const int64_t ms = 1000000;

static int64_t relaxing_ns(struct ddp_backoff *r)
{
    int64_t start_ns = ddp_clock_ns();

    ddp_backoff_pause(r);
    return ddp_clock_ns() - start_ns;
}

static void compute(int64_t ns)
{
    for (int64_t start_ns = ddp_clock_ns(); ddp_clock_ns() - start_ns < ns;)
        ;
}

/* Others of this machine may hold up some of them. */
static void it_spins_and_then_naps(void **state)
{
    struct ddp_backoff r = {0};
    int64_t spin_ns = INT64_MAX;

    (void)state;
    for (int i = 0; i < 100; i++) {
        int64_t ns = relaxing_ns(&r);

        spin_ns = ns < spin_ns ? ns : spin_ns;
    }
    assert_in_range(spin_ns, 0, 50000);
    assert_at_least(relaxing_ns(&r), 100000);
    ddp_backoff_found(&r);
    assert_in_range(relaxing_ns(&r), 0, 90 * ms);
    assert_int_equal(r.idle_polls, 1);
}

/* A child that computes without end on the one core that both may use. */
static pid_t share_a_core(cpu_set_t *before)
{
    cpu_set_t one;
    size_t core = (size_t)sched_getcpu();
    pid_t child;

    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_getaffinity(0, sizeof *before, before), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    child = fork();
    if (child == 0) {
        (void)alarm(60);
        compute(INT64_MAX);
    }
    assert_greater(child, 0);
    return child;
}

static void on_a_shared_core_it_naps_at_once(void **state)
{
    struct ddp_backoff r = {0};
    int64_t start_ns = ddp_clock_ns();
    cpu_set_t before;
    pid_t child = share_a_core(&before);
    int64_t nap_ns;
    int status, shared;

    (void)state;
    while (!r.is_core_shared && ddp_clock_ns() - start_ns < 30000 * ms) {
        compute(2 * ms);
        ddp_backoff_found(&r);
        ddp_backoff_pause(&r);
    }
    shared = r.is_core_shared;
    ddp_backoff_found(&r);
    nap_ns = relaxing_ns(&r);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_true(shared);
    assert_at_least(nap_ns, 300000);
}

/* A rank that naps is hardly interrupted, whoever else computes. */
static void it_does_not_think_so_for_ever(void **state)
{
    struct ddp_backoff r = {.is_core_shared = 1, .looked_ns = ddp_clock_ns()};
    int64_t start_ns = r.looked_ns;
    struct rusage use;

    (void)state;
    assert_int_equal(getrusage(RUSAGE_THREAD, &use), 0);
    r.interrupted = use.ru_nivcsw;
    while (r.is_core_shared && ddp_clock_ns() - start_ns < 30000 * ms)
        ddp_backoff_pause(&r);
    assert_false(r.is_core_shared);
    assert_at_least(ddp_clock_ns() - start_ns, 1000 * ms);
}

/* A rank that does not run is as one that was stopped. A poll right after the last is no such time,
 * unless others of this machine hold up the test between the two. */
static void a_rank_that_does_not_run_does_not_wait(void **state)
{
    const struct timespec stopped = {.tv_nsec = 50 * ms};
    struct ddp_backoff r = {0};
    int64_t least_ns = INT64_MAX;

    (void)state;
    ddp_backoff_begin(&r);
    (void)nanosleep(&stopped, NULL);
    ddp_backoff_polled(&r);
    assert_at_least(r.descheduled_ns, 50 * ms);
    for (int i = 0; i < 50; i++) {
        r.descheduled_ns = 0;
        ddp_backoff_begin(&r);
        ddp_backoff_polled(&r);
        least_ns = r.descheduled_ns < least_ns ? r.descheduled_ns : least_ns;
    }
    assert_int_equal(least_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_does_not_run_does_not_wait),
        cmocka_unit_test(it_spins_and_then_naps),
        cmocka_unit_test(on_a_shared_core_it_naps_at_once),
        cmocka_unit_test(it_does_not_think_so_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
