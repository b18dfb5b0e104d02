/* ddp-test: quick */
/* Reports about a run that stands still: positions, the table, events, and who broke off first. */
#include "base/clock.h"
#include "folder.h"
#include "watch/flight_recorder.h"
#include "watch/hang_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* ---- words ---- */

static void describes_positions(void **state)
{
    ddp_rank_position p = {
        .step = 12, .phase = DDP_PHASE_BACKWARD, .mini_batch = 1, .layer = 81, .bucket = -1};
    char text[128];

    (void)state;
    ddp_rank_position_describe(text, sizeof text, &p);
    assert_string_equal(text, "step 12, mini-batch 2, backward, layer 81");
    p.phase = DDP_PHASE_WAITING;
    p.bucket = 3;
    ddp_rank_position_describe(text, sizeof text, &p);
    assert_string_equal(text, "step 12, mini-batch 2, waiting for bucket 3");
    p = (ddp_rank_position){.phase = DDP_PHASE_STARTING, .layer = -1, .bucket = -1};
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
    ddp_known_rank ranks[] = {
        {.at = {.step = 1, .phase = DDP_PHASE_WAITING, .layer = -1, .bucket = 4},
         .heard_ns = 20 * s,
         .moved_ns = 10 * s},
        {.at = {.step = 1, .phase = DDP_PHASE_WAITING, .layer = -1, .bucket = 4},
         .heard_ns = 20 * s,
         .moved_ns = 20 * s},
        {.at = {.step = 1, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1},
         .heard_ns = 9 * s,
         .moved_ns = 9 * s}};
    const ddp_known_ranks known = {.ranks = ranks, .hosts = hosts, .count = 3, .now_ns = 20 * s};
    char *text = ddp_hang_report_make("title", &known, layers_of, NULL);

    (void)state;
    assert_string_equal(text,
                        "title\n"
                        "  rank 0 @ a: step 1, mini-batch 1, waiting for bucket 4; for 10 s\n"
                        "  rank 1 @ a: step 1, mini-batch 1, waiting for bucket 4\n"
                        "  rank 2 @ b: step 1, mini-batch 1, forward, layer 7; not heard for 11 s\n"
                        "  bucket 4 holds layers 4 to 13");
    free(text);
}

/* A rank that is gone may have come further than it has said. */
static void table_says_which_places_are_old(void **state)
{
    const int64_t s = 1000000000;
    const char *const hosts[] = {"a", "a", "b"};
    ddp_known_rank ranks[] = {
        {.at = {.step = 9, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1},
         .heard_ns = 20 * s,
         .moved_ns = 20 * s},
        {.at = {.step = 7, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1},
         .heard_ns = 18 * s,
         .moved_ns = 18 * s,
         .lost_ns = 18 * s},
        {.at = {.step = 8, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1},
         .heard_ns = 19 * s,
         .moved_ns = 19 * s,
         .left = 1}};
    const ddp_known_ranks known = {.ranks = ranks, .hosts = hosts, .count = 3, .now_ns = 20 * s};
    char *text = ddp_hang_report_make("title", &known, NULL, NULL);

    (void)state;
    assert_string_equal(text, "title\n"
                              "  rank 0 @ a: step 9, mini-batch 1, forward, layer 7\n"
                              "  rank 1 @ a: last heard: step 7, mini-batch 1, forward, layer 7; "
                              "its connection is gone for 2 s\n"
                              "  rank 2 @ b: last heard: step 8, mini-batch 1, forward, layer 7; "
                              "it has ended");
    free(text);
}

/* Where steps are short, a rank has come further than it last said: what it sent shows that. */
static void table_says_what_a_rank_has_sent(void **state)
{
    const int64_t s = 1000000000;
    const char *const hosts[] = {"a", "b"};
    ddp_known_rank ranks[] = {
        {.at = {.step = 309, .phase = DDP_PHASE_WAITING, .layer = -1, .bucket = -1},
         .heard_ns = 20 * s,
         .moved_ns = 20 * s},
        {.at = {.step = 1, .phase = DDP_PHASE_FORWARD, .layer = 7, .bucket = -1},
         .heard_ns = 14 * s,
         .moved_ns = 14 * s,
         .file = "images/a.png"}};
    const ddp_known_ranks known = {.ranks = ranks,
                                   .hosts = hosts,
                                   .count = 2,
                                   .completed = {.step = 308, .at_ns = 15 * s},
                                   .now_ns = 20 * s};
    char *text = ddp_hang_report_make("title", &known, NULL, NULL);

    (void)state;
    assert_string_equal(
        text, "title\n"
              "  rank 0 @ a: step 309, mini-batch 1, waiting\n"
              "  rank 1 @ b: step 308 completed, by what it sent up to 5.0 s ago; when last heard, "
              "6.0 s ago, it was at step 1, mini-batch 1, forward, layer 7, at the file "
              "images/a.png; not heard for 6 s");
    free(text);
}

/* ---- events ---- */

static void recorder_keeps_the_last(void **state)
{
    ddp_flight_recorder *r = calloc(1, sizeof *r);
    ddp_event *events = calloc(DDP_EVENTS_KEPT, sizeof *events);

    (void)state;
    assert_true(r && events);
    assert_int_equal(ddp_flight_recorder_copy(r, events), 0);
    for (int i = 0; i < DDP_EVENTS_KEPT + 5; i++)
        ddp_flight_record(r, 1, DDP_EVENT_LAUNCH, i);
    assert_int_equal(ddp_flight_recorder_copy(r, events), DDP_EVENTS_KEPT);
    assert_int_equal(events[0].number, 5);
    assert_int_equal(events[DDP_EVENTS_KEPT - 1].number, DDP_EVENTS_KEPT + 4);
    free(r);
    free(events);
}

static int64_t clock_was_set_by_s;

/* A clock that can be set, in place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME)
        now->tv_sec += clock_was_set_by_s;
    return rc;
}

static void events_keep_their_order_when_the_clock_is_set(void **state)
{
    static ddp_flight_recorder r;
    static ddp_event events[DDP_EVENTS_KEPT];
    const int64_t hour_s = 3600, second_ns = 1000000000;

    (void)state;
    for (int i = 0; i < 3; i++) {
        clock_was_set_by_s = i == 1 ? -hour_s : hour_s * i;
        ddp_flight_record(&r, 1, DDP_EVENT_STEP, i);
    }
    assert_int_equal(ddp_flight_recorder_copy(&r, events), 3);
    for (int i = 0; i < 3; i++) {
        assert_in_range(ddp_clock_unix_ns() - events[i].unix_ns, 0, 100 * second_ns);
        assert_true(i == 0 || events[i].unix_ns >= events[i - 1].unix_ns);
    }
    clock_was_set_by_s = 0;
}

static int explain(const char *events, char text[1024])
{
    struct folder folder;
    ddp_error err;
    ddp_status st;

    folder_open(&folder);
    folder_write(folder_file(&folder, "events"), events, strlen(events));
    {
        char *path = strdup(folder_file(&folder, "events"));

        st = ddp_events_explain(text, 1024, &path, 1, &err);
        free(path);
    }
    folder_close(&folder);
    return st;
}

static void expect_cause(const char *events, const char *cause)
{
    char text[1024];

    assert_int_equal(explain(events, text), DDP_OK);
    if (!strstr(text, cause))
        fail_msg("'%s' does not have '%s'", text, cause);
}

static void finds_who_broke_off_first(void **state)
{
    char text[1024];

    (void)state;
    /* Rank 1 launched a bucket less. */
    expect_cause("0 a 10.000000000 5 step 5\n0 a 11.000000000 5 launch 0\n"
                 "0 a 12.000000000 5 launch 1\n1 b 10.000000000 5 step 5\n"
                 "1 b 12.500000000 5 launch 0\n",
                 "Rank 1 on b broke off first, without an error of its own: last seen in step 5, "
                 "bucket 0 launched, at 1970-01-01 00:00:12 UTC. The foremost, rank 0: in step 5, "
                 "bucket 1 launched");
    /* Rank 0 says itself that it failed, though rank 1 is behind. */
    expect_cause("0 a 10.000000000 6 step 6\n0 a 11.000000000 6 fail 0\n"
                 "1 b 10.000000000 5 step 5\n",
                 "Rank 0 on a reported an error first: in step 6, at 1970-01-01 00:00:11 UTC");
    /* Equally far: the one that fell silent. */
    expect_cause("0 a 10.000000000 6 step 6\n1 b 18.000000000 6 step 6\n",
                 "Rank 0 on a broke off first");
    expect_cause("0 a 10.000000000 6 step 6\n1 b 10.100000000 6 step 6\n",
                 "No rank stands out: all 2 came equally far, to step 6");
    /* One that could not be asked. */
    expect_cause("0 a 20.000000000 6 phase 4 waiting\n1 b 12.000000000 6 silent 3 backward\n",
                 "Rank 1 on b was not heard any more, so its own events are missing: last heard in "
                 "step 6, backward, since");
    expect_cause(
        "0 a 20.000000000 309 phase 4 waiting\n"
        "1 b 12.000000000 1 silent 3 backward\n1 b 14.000000000 308 sent 0\n",
        "in step 1, backward, since 1970-01-01 00:00:12 UTC. Step 308 it had completed, by "
        "what it had sent up to 1970-01-01 00:00:14");
    assert_int_equal(explain("0 a 10.000000000 6 walk 6\n", text), DDP_ERR_FORMAT);
    assert_int_equal(explain("", text), DDP_ERR_FORMAT);
}

static void reads_what_it_writes(void **state)
{
    const ddp_event event = {
        .unix_ns = 12000000034, .step = 7, .kind = DDP_EVENT_PHASE, .number = 3};
    const ddp_event later = {.unix_ns = 13000000000, .step = 8, .kind = DDP_EVENT_STEP};
    char text[256] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    (void)state;
    ddp_events_write(out, 2, "a", &event, 1);
    ddp_events_write(out, 0, "b", &later, 1);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "2 a 12.000000034 7 phase 3 backward\n0 b 13.000000000 8 step 0\n");
    expect_cause(text, "Rank 2 on a broke off first, without an error of its own: last seen in "
                       "step 7, backward, since 1970-01-01 00:00:12 UTC. The foremost, rank 0: in "
                       "step 8, at 1970-01-01 00:00:13 UTC.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_positions),
        cmocka_unit_test(table_names_all),
        cmocka_unit_test(table_says_which_places_are_old),
        cmocka_unit_test(table_says_what_a_rank_has_sent),
        cmocka_unit_test(recorder_keeps_the_last),
        cmocka_unit_test(events_keep_their_order_when_the_clock_is_set),
        cmocka_unit_test(finds_who_broke_off_first),
        cmocka_unit_test(reads_what_it_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
