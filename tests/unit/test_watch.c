/* The watch over a run: who is where, who stands still, who is gone, and what is left to read of
 * it. Ranks are objects of one process here, with real connections between them. */
#include "folder.h"
#include "watch/table.h"
#include "watch/watch.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* ---- words ---- */

static void describes_positions(void **state)
{
    ddp_rank_position p = {.step = 12,
                           .phase = DDP_PHASE_BACKWARD,
                           .mini_batch = 1,
                           .layer = 81,
                           .bucket = -1,
                           .peer = -1};
    char text[128];

    (void)state;
    ddp_rank_position_describe(text, sizeof text, &p);
    assert_string_equal(text, "step 12, mini-batch 2, backward, layer 81");
    p.phase = DDP_PHASE_WAITING;
    p.bucket = 3;
    p.peer = 2;
    ddp_rank_position_describe(text, sizeof text, &p);
    assert_string_equal(text, "step 12, mini-batch 2, waiting for bucket 3, rank 2 owes a part");
    p = (ddp_rank_position){.phase = DDP_PHASE_STARTING, .layer = -1, .bucket = -1, .peer = -1};
    ddp_rank_position_describe(text, sizeof text, &p);
    assert_string_equal(text, "starting");
}

static void layers_of(void *ctx, int bucket, char *out, size_t size)
{
    (void)ctx;
    (void)snprintf(out, size, "layers %d to %d", bucket, bucket + 9);
}

static void table_names_all(void **state)
{
    const int64_t s = 1000000000;
    const char *const hosts[] = {"a", "a", "b"};
    ddp_watched ranks[] = {
        {.at = {.step = 1, .phase = DDP_PHASE_WAITING, .layer = -1, .bucket = 4, .peer = 2},
         .heard_ns = 20 * s,
         .moved_ns = 10 * s},
        {.at = {.step = 1, .phase = DDP_PHASE_WAITING, .layer = -1, .bucket = 4, .peer = 2},
         .heard_ns = 20 * s,
         .moved_ns = 20 * s},
        {.at = {.step = 1, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1, .peer = -1},
         .heard_ns = 9 * s,
         .moved_ns = 9 * s}};
    char *text = ddp_table_make("title", ranks, hosts, 3, 0, 20 * s, layers_of, NULL);

    (void)state;
    assert_string_equal(
        text,
        "title\n"
        "  rank 0 @ a: step 1, mini-batch 1, waiting for bucket 4, rank 2 owes a part; for 10 s\n"
        "  rank 1 @ a: step 1, mini-batch 1, waiting for bucket 4, rank 2 owes a part\n"
        "  rank 2 @ b: step 1, mini-batch 1, forward, layer 7; not heard for 11 s\n"
        "  bucket 4 holds layers 4 to 13");
    free(text);
}

/* ---- events ---- */

static void recorder_keeps_the_last(void **state)
{
    ddp_recorder *r = calloc(1, sizeof *r);
    ddp_event *events = calloc(DDP_EVENTS_KEPT, sizeof *events);

    (void)state;
    assert_true(r && events);
    assert_int_equal(ddp_recorder_copy(r, events), 0);
    for (int i = 0; i < DDP_EVENTS_KEPT + 5; i++)
        ddp_record(r, 1, DDP_EVENT_LAUNCH, i);
    assert_int_equal(ddp_recorder_copy(r, events), DDP_EVENTS_KEPT);
    assert_int_equal(events[0].number, 5);
    assert_int_equal(events[DDP_EVENTS_KEPT - 1].number, DDP_EVENTS_KEPT + 4);
    free(r);
    free(events);
}

static int judge(const char *text, ddp_verdict *v)
{
    struct folder folder;
    ddp_error err;
    ddp_status st;

    folder_open(&folder);
    folder_write(folder_file(&folder, "events"), text, strlen(text));
    {
        char *path = strdup(folder_file(&folder, "events"));

        st = ddp_events_judge(v, &path, 1, &err);
        free(path);
    }
    folder_close(&folder);
    return st;
}

static void finds_who_broke_off_first(void **state)
{
    ddp_verdict v;
    char text[512];

    (void)state;
    /* Rank 1 launched a bucket less. */
    assert_int_equal(judge("0 a 10.000000000 5 step 5\n0 a 11.000000000 5 launch 0\n"
                           "0 a 12.000000000 5 launch 1\n1 b 10.000000000 5 step 5\n"
                           "1 b 12.500000000 5 launch 0\n",
                           &v),
                     DDP_OK);
    assert_int_equal(v.rank, 1);
    assert_int_equal(v.foremost, 0);
    ddp_verdict_describe(text, sizeof text, &v);
    assert_non_null(strstr(text, "Rank 1 on b broke off first"));
    assert_non_null(strstr(text, "in step 5, bucket 0 launched"));
    /* Rank 0 says itself that it failed, though rank 1 is behind. */
    assert_int_equal(judge("0 a 10.000000000 6 step 6\n0 a 11.000000000 6 fail 0\n"
                           "1 b 10.000000000 5 step 5\n",
                           &v),
                     DDP_OK);
    assert_true(v.rank == 0 && v.failed);
    /* Equally far: the one that fell silent. */
    assert_int_equal(judge("0 a 10.000000000 6 step 6\n1 b 18.000000000 6 step 6\n", &v), DDP_OK);
    assert_int_equal(v.rank, 0);
    assert_int_equal(judge("0 a 10.000000000 6 step 6\n1 b 10.100000000 6 step 6\n", &v), DDP_OK);
    assert_int_equal(v.rank, -1);
    ddp_verdict_describe(text, sizeof text, &v);
    assert_non_null(strstr(text, "No rank stands out"));
    /* One that could not be asked. */
    assert_int_equal(
        judge("0 a 20.000000000 6 phase 4 waiting\n1 b 12.000000000 6 silent 3 backward\n", &v),
        DDP_OK);
    assert_true(v.rank == 1 && v.silent);
    ddp_verdict_describe(text, sizeof text, &v);
    assert_non_null(strstr(text, "Rank 1 on b was not heard any more"));
    assert_non_null(strstr(text, "in step 6, backward, since"));
    assert_int_equal(judge("0 a 10.000000000 6 walk 6\n", &v), DDP_ERR_FORMAT);
    assert_int_equal(judge("", &v), DDP_ERR_FORMAT);
}

static void reads_what_it_writes(void **state)
{
    const ddp_event event = {
        .unix_ns = 12000000034, .step = 7, .kind = DDP_EVENT_PHASE, .number = 3};
    char text[256] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    ddp_verdict v;

    (void)state;
    ddp_events_write(out, 2, "a", &event, 1);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "2 a 12.000000034 7 phase 3 backward\n");
    assert_int_equal(judge(text, &v), DDP_OK);
    assert_int_equal(v.ahead.unix_ns, event.unix_ns);
}

/* ---- a channel ---- */

static void note(void *ctx, int rank, int kind, const void *bytes, size_t count)
{
    char *text = ctx;
    size_t at = strlen(text);

    (void)snprintf(text + at, 256 - at, "%d:%d:%.*s ", rank, kind, (int)count, (const char *)bytes);
}

static void poll_some(ddp_channel *c, char *text)
{
    for (int i = 0; i < 10; i++)
        ddp_channel_poll(c, 10, note, text);
}

static ddp_channel *join(const ddp_invitation *inv, int rank)
{
    ddp_channel *c;
    ddp_error err;

    if (ddp_channel_join(&c, inv, rank, 1000, &err))
        fail_msg("%s", err.text);
    return c;
}

static void ranks_talk_and_strangers_do_not(void **state)
{
    ddp_invitation inv, wrong;
    ddp_channel *zero, *one, *two, *stranger;
    char text[256] = "", answer[256] = "";
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_channel_invite(&zero, &inv, 3, 1, NULL, &err), DDP_OK);
    assert_int_equal(inv.count, 1);
    assert_int_equal(inv.at[0].address, htonl(INADDR_LOOPBACK));
    wrong = inv;
    wrong.token++;
    stranger = join(&wrong, 1);
    poll_some(zero, text);
    assert_int_equal(ddp_channel_link(zero, 1), DDP_LINK_AWAITED);
    poll_some(stranger, answer);
    assert_int_equal(ddp_channel_link(stranger, 0), DDP_LINK_LOST);
    ddp_channel_close(stranger);

    one = join(&inv, 1);
    two = join(&inv, 2);
    ddp_channel_send(one, 0, 7, "hello", 5);
    ddp_channel_send(two, 0, 8, NULL, 0);
    poll_some(zero, text);
    assert_string_equal(text, "1:7:hello 2:8: ");
    ddp_channel_send(zero, 2, 9, "you", 3);
    poll_some(two, answer);
    assert_string_equal(answer, "0:9:you ");
    /* All are here: nobody listens any more. */
    assert_int_equal(ddp_channel_join(&stranger, &inv, 1, 200, &err), DDP_ERR_COMM);
    assert_non_null(strstr(err.text, "127.0.0.1 port "));
    ddp_channel_close(one);
    poll_some(zero, text);
    assert_int_equal(ddp_channel_link(zero, 1), DDP_LINK_LOST);
    assert_int_equal(ddp_channel_link(zero, 2), DDP_LINK_OPEN);
    ddp_channel_close(two);
    ddp_channel_close(zero);
}

/* ---- the watch ---- */

enum { MOST = 3 };

struct rank {
    ddp_watch *watch;
    pthread_mutex_t lock;
    char said[4096];
    size_t kept[MOST]; /* events of each rank */
    int all_kept;
    atomic_int ended;
};

static struct rank ranks[MOST];
static const char *const hosts[] = {"a", "b", "c"};

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

    (void)events;
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

static void open_ranks(int count, double timeout_s)
{
    ddp_invitation inv = {0};
    ddp_error err;

    memset(ranks, 0, sizeof ranks);
    for (int i = 0; i < count; i++) {
        const ddp_watch_config config = {.timeout_s = timeout_s,
                                         .io_timeout_s = 1000,
                                         .ctx = &ranks[i],
                                         .say = say,
                                         .describe_bucket = layers_of,
                                         .keep_events = keep_events,
                                         .end = end};
        ddp_channel *channel = NULL;

        (void)pthread_mutex_init(&ranks[i].lock, NULL);
        assert_int_equal(ddp_watch_open(&ranks[i].watch, &config, &err), DDP_OK);
        if (i == 0 && count > 1)
            assert_int_equal(ddp_channel_invite(&channel, &inv, count, 1, NULL, &err), DDP_OK);
        else if (count > 1)
            channel = join(&inv, i);
        assert_int_equal(ddp_watch_join(ranks[i].watch, i, count, hosts, channel, &err), DDP_OK);
    }
}

static void close_ranks(int count)
{
    for (int i = count; i-- > 0;)
        ddp_watch_close(ranks[i].watch);
}

static int wait_for_end(struct rank *r, int seconds)
{
    for (int i = 0; i < seconds * 50 && !atomic_load(&r->ended); i++)
        (void)usleep(20000);
    return atomic_load(&r->ended);
}

static int wait_for_words(struct rank *r, const char *words, int seconds)
{
    int found = 0;

    for (int i = 0; i < seconds * 50 && !found; i++) {
        (void)pthread_mutex_lock(&r->lock);
        found = strstr(r->said, words) != NULL;
        (void)pthread_mutex_unlock(&r->lock);
        (void)usleep(20000);
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
    ddp_watch_wait(ranks[0].watch, 2, 1);
    ddp_watch_wait(ranks[2].watch, 2, 1);
    assert_true(wait_for_words(&ranks[0],
                               "wait for rank 1 on b: step 5, mini-batch 1, forward, layer 3|", 4));
    for (int r = 0; r < 3; r++)
        assert_true(wait_for_end(&ranks[r], 12));
    assert_non_null(strstr(ranks[0].said, "and the run ends; the others wait for rank 1 on b"));
    assert_non_null(
        strstr(ranks[0].said, "rank 2 @ c: step 5, mini-batch 1, waiting for bucket 2"));
    assert_non_null(strstr(ranks[0].said, "bucket 2 holds layers 2 to 11"));
    assert_string_equal(ranks[1].said, "");
    for (int r = 0; r < 3; r++)
        assert_true(ranks[0].kept[r] > 0);
    assert_true(ranks[0].all_kept);
    close_ranks(3);
}

static void says_nothing_while_something_moves(void **state)
{
    (void)state;
    open_ranks(2, 1);
    train(0);
    train(1);
    for (int i = 0; i < 30; i++) {
        ddp_watch_moved(ranks[1].watch);
        (void)usleep(100000);
    }
    assert_false(atomic_load(&ranks[0].ended));
    assert_null(strstr(ranks[0].said, "ends"));
    close_ranks(2);
}

static void disks_have_more_time(void **state)
{
    (void)state;
    open_ranks(2, 1);
    train(0);
    train(1);
    ddp_watch_phase(ranks[0].watch, DDP_PHASE_SAVING);
    (void)usleep(2500000);
    assert_false(atomic_load(&ranks[0].ended));
    close_ranks(2);
}

/* A stopped process was perhaps loading when it was last heard: that excuses nobody for long. */
static void a_silent_rank_is_not_at_its_disk(void **state)
{
    const ddp_watch_config config = {.timeout_s = 5,
                                     .io_timeout_s = 1000,
                                     .ctx = &ranks[0],
                                     .say = say,
                                     .describe_bucket = layers_of,
                                     .keep_events = keep_events,
                                     .end = end};
    const ddp_rank_position loads = {.moves = 9, .step = 5, .phase = DDP_PHASE_LOADING};
    ddp_channel *zero = NULL, *one;
    ddp_invitation inv = {0};
    ddp_error err;

    (void)state;
    memset(ranks, 0, sizeof ranks);
    (void)pthread_mutex_init(&ranks[0].lock, NULL);
    assert_int_equal(ddp_watch_open(&ranks[0].watch, &config, &err), DDP_OK);
    assert_int_equal(ddp_channel_invite(&zero, &inv, 2, 1, NULL, &err), DDP_OK);
    one = join(&inv, 1);
    assert_int_equal(ddp_watch_join(ranks[0].watch, 0, 2, hosts, zero, &err), DDP_OK);
    train(0);
    ddp_channel_send(one, 0, 0, &loads, sizeof loads); /* a position, and never another */
    assert_true(wait_for_end(&ranks[0], 15));
    assert_non_null(strstr(ranks[0].said, "wait for rank 1 on b, which is not heard any more"));
    ddp_channel_close(one);
    close_ranks(1);
}

static void misses_a_rank_that_ends(void **state)
{
    (void)state;
    open_ranks(2, 100);
    train(0);
    ddp_watch_close(ranks[1].watch); /* in good order: nothing is said */
    (void)usleep(2500000);
    assert_string_equal(ranks[0].said, "");
    ddp_watch_close(ranks[0].watch);
}

static void prints_the_table_when_asked(void **state)
{
    (void)state;
    open_ranks(2, 100);
    train(0);
    train(1);
    (void)usleep(1500000);
    ddp_watch_ask_table(ranks[1].watch);
    assert_true(wait_for_words(&ranks[0], "where the ranks are\n  rank 0 @ a: step 5", 3));
    assert_non_null(strstr(ranks[0].said, "rank 1 @ b: step 5"));
    assert_false(atomic_load(&ranks[0].ended));
    close_ranks(2);
}

static void watches_a_process_on_its_own(void **state)
{
    ddp_error err;
    const ddp_watch_config config = {
        .timeout_s = 1, .io_timeout_s = 1, .ctx = &ranks[0], .say = say, .end = end};

    (void)state;
    memset(ranks, 0, sizeof ranks);
    (void)pthread_mutex_init(&ranks[0].lock, NULL);
    assert_int_equal(ddp_watch_open(&ranks[0].watch, &config, &err), DDP_OK);
    assert_true(wait_for_end(&ranks[0], 5));
    assert_non_null(strstr(ranks[0].said, "the ranks have not come together"));
    ddp_watch_close(ranks[0].watch);
}

static void nothing_is_watched_without_one(void **state)
{
    (void)state;
    ddp_watch_step(NULL, 1, 0);
    ddp_watch_layer(NULL, DDP_PHASE_FORWARD, 1);
    ddp_watch_wait(NULL, 1, 1);
    ddp_watch_fail(NULL);
    ddp_watch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_positions),
        cmocka_unit_test(table_names_all),
        cmocka_unit_test(recorder_keeps_the_last),
        cmocka_unit_test(finds_who_broke_off_first),
        cmocka_unit_test(reads_what_it_writes),
        cmocka_unit_test(ranks_talk_and_strangers_do_not),
        cmocka_unit_test(names_the_rank_that_stands_still),
        cmocka_unit_test(says_nothing_while_something_moves),
        cmocka_unit_test(disks_have_more_time),
        cmocka_unit_test(a_silent_rank_is_not_at_its_disk),
        cmocka_unit_test(misses_a_rank_that_ends),
        cmocka_unit_test(prints_the_table_when_asked),
        cmocka_unit_test(watches_a_process_on_its_own),
        cmocka_unit_test(nothing_is_watched_without_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
