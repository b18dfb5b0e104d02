/* ddp-test: quick tsan */
/* The watch over a run: who stands still, who is gone. Ranks are objects of one process here, with
 * real connections between them, and a clock that moves when the test says so. */
#include "base/clock.h"
#include "heartbeats.h"
#include "numbers.h"
#include "watch/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MOST = 3, PATIENCE_S = 120, TICK_MS = 200 };

struct rank {
    ddp_watch *watch;
    pthread_mutex_t lock;
    char said[4096];
    size_t kept[MOST];      /* events of each rank */
    size_t of_another_time; /* of these, by this rank's clock */
    int all_kept;
    atomic_int ended;
    atomic_uint looks; /* at the clock */
    int is_open;
};

static struct rank ranks[MOST];
static const char *const hosts[] = {"a", "b", "c"};
static atomic_llong now_ns;

static _Thread_local time_t clock_is_late_s;

/* A clock in place of the C library's: each rank's host has its own time of day. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME)
        now->tv_sec -= clock_is_late_s;
    return rc;
}

/* Each watch's own thread looks. */
static int64_t look_at_clock(void *ctx)
{
    struct rank *r = ctx;

    clock_is_late_s = 3600 * (r - ranks);

    (void)atomic_fetch_add(&r->looks, 1);
    return atomic_load(&now_ns);
}

/* Until the rank's watch has taken what has come, and looked at the clock again. */
static void wait_for_looks(struct rank *r, unsigned looks)
{
    for (long i = 0; i < PATIENCE_S * 1000L; i++) {
        if (!r->is_open || atomic_load(&r->ended) || atomic_load(&r->looks) >= looks)
            return;
        (void)usleep(1000);
    }
    fail_msg("a watch does not look at its clock");
}

/* Let so much time go by, in steps in which each watch does all that it wants to. */
static void pass(double seconds)
{
    for (double gone = 0; gone < seconds - 1e-9; gone += TICK_MS / 1000.) {
        unsigned looks[MOST];

        (void)atomic_fetch_add(&now_ns, TICK_MS * 1000000LL);
        for (int i = 0; i < MOST; i++)
            looks[i] = atomic_load(&ranks[i].looks);
        for (int i = 0; i < MOST; i++)
            wait_for_looks(&ranks[i], looks[i] + 2);
    }
}

static void say(void *ctx, const char *text)
{
    struct rank *r = ctx;

    (void)pthread_mutex_lock(&r->lock);
    (void)strncat(r->said, text, sizeof r->said - strlen(r->said) - 2);
    (void)strcat(r->said, "|");
    (void)pthread_mutex_unlock(&r->lock);
}

static void keep_events(void *ctx, int rank, const ddp_event *events, size_t count)
{
    struct rank *r = ctx;

    for (size_t i = 0; i < count; i++)
        r->of_another_time += llabs(ddp_clock_unix_ns() - events[i].unix_ns) > 1000000000000;
    if (rank < 0)
        r->all_kept = 1;
    else
        r->kept[rank] += count;
}

static void end(void *ctx) __attribute__((noreturn));

static void end(void *ctx)
{
    struct rank *r = ctx;

    atomic_store(&r->ended, 1);
    pthread_exit(NULL);
}

static void layers_of(void *ctx, int bucket, char *out, size_t size)
{
    (void)ctx;
    (void)snprintf(out, size, "layers %d to %d", bucket, bucket + 9);
}

static void open_rank(struct rank *r, double timeout_s)
{
    const ddp_watch_config config = {.timeout_s = timeout_s,
                                     .lost_s = 1.5,
                                     .io_timeout_s = 1000,
                                     .ctx = r,
                                     .say = say,
                                     .describe_bucket = layers_of,
                                     .keep_events = keep_events,
                                     .end = end,
                                     .clock_ns = look_at_clock,
                                     .tick_ms = 1};
    ddp_error err;

    memset(r, 0, sizeof *r);
    (void)pthread_mutex_init(&r->lock, NULL);
    assert_int_equal(ddp_watch_open(&r->watch, &config, &err), DDP_OK);
    r->is_open = 1;
}

static void close_rank(struct rank *r)
{
    r->is_open = 0;
    ddp_watch_close(r->watch);
}

static void open_ranks(int count, double timeout_s)
{
    ddp_heartbeat_invitation inv = {0};
    ddp_error err;

    for (int i = 0; i < count; i++) {
        ddp_heartbeat *channel = NULL;

        open_rank(&ranks[i], timeout_s);
        if (i == 0 && count > 1)
            assert_int_equal(ddp_heartbeat_invite(&channel, &inv, count, 1, NULL, &err), DDP_OK);
        else if (count > 1)
            channel = heartbeats_join(&inv, i);
        assert_int_equal(ddp_watch_join(ranks[i].watch, i, count, hosts, channel, &err), DDP_OK);
    }
}

static void close_ranks(int count)
{
    for (int i = count; i-- > 0;)
        close_rank(&ranks[i]);
}

static int wait_for_end(struct rank *r)
{
    for (int i = 0; i < PATIENCE_S && !atomic_load(&r->ended); i++)
        pass(1);
    return atomic_load(&r->ended);
}

static int wait_for_words(struct rank *r, const char *words, int seconds)
{
    int found = 0;

    for (int i = 0; i <= seconds * 1000 / TICK_MS && !found; i++) {
        if (i > 0)
            pass(TICK_MS / 1000.);
        (void)pthread_mutex_lock(&r->lock);
        found = strstr(r->said, words) != NULL;
        (void)pthread_mutex_unlock(&r->lock);
    }
    return found;
}

static void train(int rank)
{
    ddp_watch_step(ranks[rank].watch, 5, 0);
    ddp_watch_layer(ranks[rank].watch, DDP_PHASE_FORWARD, 3);
}

static void names_the_rank_that_stands_still(void **state)
{
    (void)state;
    open_ranks(3, 4);
    for (int r = 0; r < 3; r++)
        train(r);
    ddp_watch_wait(ranks[0].watch, 2);
    ddp_watch_wait(ranks[2].watch, 2);
    assert_true(wait_for_words(
        &ranks[0], "wait for rank 1 on b: step 5, mini-batch 1, forward, layer 3|", PATIENCE_S));
    for (int r = 0; r < 3; r++)
        assert_true(wait_for_end(&ranks[r]));
    assert_non_null(strstr(ranks[0].said, "and the run ends; the others wait for rank 1 on b"));
    assert_non_null(
        strstr(ranks[0].said, "rank 2 @ c: step 5, mini-batch 1, waiting for bucket 2"));
    assert_non_null(strstr(ranks[0].said, "bucket 2 holds layers 2 to 11"));
    assert_string_equal(ranks[1].said, "");
    for (int r = 0; r < 3; r++)
        assert_greater(ranks[0].kept[r], 0);
    assert_true(ranks[0].all_kept);
    assert_int_equal(ranks[0].of_another_time, 0);
    close_ranks(3);
}

/* Ranks compute, and so none says that it waits for another. */
static void names_the_rank_that_stands_still_longest(void **state)
{
    (void)state;
    open_ranks(2, 2);
    train(1);
    train(0);
    for (int i = 0; i < 12; i++) { /* rank 1 is heard to have moved long before its end */
        ddp_watch_moved(ranks[0].watch);
        pass(.2);
    }
    assert_true(wait_for_end(&ranks[0]));
    assert_true(wait_for_end(&ranks[1]));
    assert_non_null(strstr(ranks[0].said, "and the run ends; the others wait for rank 1 on b"));
    close_ranks(2);
}

static void says_nothing_while_something_moves(void **state)
{
    (void)state;
    open_ranks(2, 4);
    train(0);
    train(1);
    for (int i = 0; i < 35; i++) { /* longer than the timeout, in steps much shorter than it */
        ddp_watch_moved(ranks[1].watch);
        pass(.2);
    }
    assert_false(atomic_load(&ranks[0].ended));
    assert_null(strstr(ranks[0].said, "ends"));
    close_ranks(2);
}

static void disks_have_more_time(void **state)
{
    (void)state;
    open_ranks(2, 3);
    train(0);
    train(1);
    ddp_watch_phase(ranks[0].watch, DDP_PHASE_SAVING);
    pass(5.4);
    assert_false(atomic_load(&ranks[0].ended));
    close_ranks(2);
}

/* A stopped process was perhaps loading when it was last heard: that excuses nobody for long. */
static void a_silent_rank_is_not_at_its_disk(void **state)
{
    const ddp_rank_position loads = {.moves = 9, .step = 5, .phase = DDP_PHASE_LOADING};
    ddp_heartbeat *zero = NULL, *one;
    ddp_heartbeat_invitation inv = {0};
    ddp_error err;

    (void)state;
    open_rank(&ranks[0], 5);
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 2, 1, NULL, &err), DDP_OK);
    one = heartbeats_join(&inv, 1);
    assert_int_equal(ddp_watch_join(ranks[0].watch, 0, 2, hosts, zero, &err), DDP_OK);
    train(0);
    ddp_heartbeat_send(one, 0, 0, &loads, sizeof loads); /* a position, and never another */
    assert_true(wait_for_end(&ranks[0]));
    assert_non_null(strstr(ranks[0].said, "wait for rank 1 on b, which is not heard any more"));
    ddp_heartbeat_close(one);
    close_ranks(1);
}

static void a_rank_that_says_goodbye_is_not_missed(void **state)
{
    (void)state;
    open_ranks(2, 100);
    train(0);
    close_rank(&ranks[1]);
    pass(2.4);
    assert_string_equal(ranks[0].said, "");
    close_rank(&ranks[0]);
}

static void a_rank_that_could_not_join_goes_on(void **state)
{
    ddp_error err;

    (void)state;
    open_rank(&ranks[1], 100);
    assert_int_equal(ddp_watch_join(ranks[1].watch, 1, 2, hosts, NULL, &err), DDP_OK);
    pass(1); /* until then its thread may not have seen the join, and answers as a lone rank */
    ddp_watch_ask_hang_report(ranks[1].watch);
    pass(2.4);
    assert_false(atomic_load(&ranks[1].ended));
    assert_string_equal(ranks[1].said, "");
    close_rank(&ranks[1]);
}

/* A message: this rank reports an error itself. */
enum { FAILING = 5 };

/* Rank 0's watch, and a bare channel in place of rank 1's. */
static ddp_heartbeat *open_rank_0(void)
{
    ddp_heartbeat *zero = NULL, *one;
    ddp_heartbeat_invitation inv = {0};
    ddp_error err;

    open_rank(&ranks[0], 100);
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 2, 1, NULL, &err), DDP_OK);
    one = heartbeats_join(&inv, 1);
    assert_int_equal(ddp_watch_join(ranks[0].watch, 0, 2, hosts, zero, &err), DDP_OK);
    return one;
}

static void a_rank_that_goes_without_a_word_ends_the_run(void **state)
{
    (void)state;
    ddp_heartbeat_close(open_rank_0());
    assert_true(wait_for_end(&ranks[0]));
    assert_non_null(strstr(
        ranks[0].said, "rank 1 on b has ended, or its connection has, in the middle of the run"));
    close_ranks(1);
}

static void of_a_rank_that_reports_an_error_nothing_else_is_said(void **state)
{
    ddp_heartbeat *one = open_rank_0();

    (void)state;
    ddp_heartbeat_send(one, 0, FAILING, NULL, 0);
    ddp_heartbeat_close(one);
    pass(2.4);
    assert_false(atomic_load(&ranks[0].ended));
    assert_string_equal(ranks[0].said, "");
    close_ranks(1);
}

static void note_failing(void *ctx, int rank, int kind, const void *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    if (kind == FAILING)
        *(int *)ctx = rank;
}

static void a_rank_that_fails_says_so(void **state)
{
    ddp_heartbeat *zero = NULL;
    ddp_heartbeat_invitation inv = {0};
    ddp_error err;
    int failing = -1;

    (void)state;
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 2, 1, NULL, &err), DDP_OK);
    open_rank(&ranks[1], 100);
    assert_int_equal(ddp_watch_join(ranks[1].watch, 1, 2, hosts, heartbeats_join(&inv, 1), &err),
                     DDP_OK);
    ddp_watch_fail(ranks[1].watch);
    for (int i = 0; i < 1000 && failing < 0; i++)
        ddp_heartbeat_poll(zero, 20, note_failing, &failing);
    assert_int_equal(failing, 1);
    close_rank(&ranks[1]);
    ddp_heartbeat_close(zero);
}

static void a_channel_of_no_watch_is_closed(void **state)
{
    ddp_heartbeat *zero = NULL;
    ddp_heartbeat_invitation inv = {0};
    ddp_error err;
    char ignored[64] = "";

    (void)state;
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 2, 1, NULL, &err), DDP_OK);
    assert_int_equal(ddp_watch_join(NULL, 1, 2, hosts, heartbeats_join(&inv, 1), &err), DDP_OK);
    heartbeats_poll(zero, ignored);
    assert_int_equal(ddp_heartbeat_link(zero, 1), DDP_LINK_LOST);
    ddp_heartbeat_close(zero);
}

/* Ask for the table until both ranks have told where they are. */
static void ask_until_both_have_said(int step)
{
    char one[64], other[64];

    (void)snprintf(one, sizeof one, "where the ranks are\n  rank 0 @ a: step %d", step);
    (void)snprintf(other, sizeof other, "rank 1 @ b: step %d", step);
    for (int i = 0; i < PATIENCE_S; i++) {
        (void)pthread_mutex_lock(&ranks[0].lock);
        ranks[0].said[0] = '\0';
        (void)pthread_mutex_unlock(&ranks[0].lock);
        ddp_watch_ask_hang_report(ranks[1].watch);
        if (wait_for_words(&ranks[0], one, 2) && wait_for_words(&ranks[0], other, 1))
            return;
    }
    fail_msg("no '%s' and '%s'", one, other);
}

static void prints_the_table_when_asked(void **state)
{
    (void)state;
    open_ranks(2, 100);
    train(0);
    train(1);
    ask_until_both_have_said(5);
    assert_false(atomic_load(&ranks[0].ended));
    close_ranks(2);
}

static void watches_a_process_on_its_own(void **state)
{
    (void)state;
    open_rank(&ranks[0], 1);
    assert_true(wait_for_end(&ranks[0]));
    assert_non_null(strstr(ranks[0].said, "the ranks have not come together"));
    close_rank(&ranks[0]);
}

/* A thread of this process that opens a FIFO, which nobody writes. */
static void *open_fifo(void *path)
{
    (void)close(open(path, O_RDONLY | O_CLOEXEC));
    return NULL;
}

static void names_the_file_that_a_process_waits_for(void **state)
{
    char folder[] = "/tmp/test_watch.XXXXXX", path[64];
    pthread_t reader;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/list of pictures", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, open_fifo, path), 0);
    open_rank(&ranks[0], 4);
    assert_true(wait_for_end(&ranks[0]));
    assert_non_null(strstr(ranks[0].said, "the run ends; this one waits for the file /tmp/test_"));
    assert_non_null(strstr(ranks[0].said, "/list of pictures|"));
    close_ranks(1);
    (void)close(open(path, O_WRONLY | O_CLOEXEC));
    (void)pthread_join(reader, NULL);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void nothing_is_watched_without_one(void **state)
{
    (void)state;
    ddp_watch_step(NULL, 1, 0);
    ddp_watch_layer(NULL, DDP_PHASE_FORWARD, 1);
    ddp_watch_wait(NULL, 1);
    ddp_watch_fail(NULL);
    ddp_watch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_rank_that_stands_still),
        cmocka_unit_test(names_the_rank_that_stands_still_longest),
        cmocka_unit_test(says_nothing_while_something_moves),
        cmocka_unit_test(disks_have_more_time),
        cmocka_unit_test(a_silent_rank_is_not_at_its_disk),
        cmocka_unit_test(a_rank_that_says_goodbye_is_not_missed),
        cmocka_unit_test(a_rank_that_could_not_join_goes_on),
        cmocka_unit_test(a_rank_that_goes_without_a_word_ends_the_run),
        cmocka_unit_test(of_a_rank_that_reports_an_error_nothing_else_is_said),
        cmocka_unit_test(a_rank_that_fails_says_so),
        cmocka_unit_test(a_channel_of_no_watch_is_closed),
        cmocka_unit_test(prints_the_table_when_asked),
        cmocka_unit_test(watches_a_process_on_its_own),
        cmocka_unit_test(names_the_file_that_a_process_waits_for),
        cmocka_unit_test(nothing_is_watched_without_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
