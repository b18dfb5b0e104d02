/* ddp-test: quick tsan */
/* How ranks meet by files: all of them, whatever lies there from earlier starts; and what is said
 * of one that does not come. Ranks are threads here. */
#include "transport/rendezvous.h"

#include "folder.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above, in this order. */
#include <cmocka.h>

enum { MOST_RANKS = 4, LONG = 100000 };

static const int64_t second = INT64_C(1000000000);

static struct folder folder;
static char path[PATH_MAX];

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    (void)snprintf(path, sizeof path, "%s/meet", folder.path);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

/* A rank: what it tells the others, and what it has of them. */
struct rank {
    ddp_rendezvous_config config;
    pthread_t thread;
    int told[MOST_RANKS];
    ddp_status status;
    ddp_error err;
};

static void *meet(void *arg)
{
    struct rank *r = arg;
    ddp_rendezvous *m;
    int mine = 10 * r->config.rank;
    char *all = malloc((size_t)LONG * MOST_RANKS), *own = malloc(LONG);

    if (!all || !own)
        abort();
    memset(own, 'a' + r->config.rank, LONG);
    r->status = ddp_rendezvous_open(&m, &r->config, &r->err);
    if (!r->status)
        r->status = ddp_rendezvous_gather(m, &mine, r->told, sizeof mine, &r->err);
    if (!r->status)
        r->status = ddp_rendezvous_gather(m, own, all, LONG, &r->err);
    for (int i = 0; i < r->config.size && !r->status; i++)
        if (all[(size_t)i * LONG] != 'a' + i || all[(size_t)(i + 1) * LONG - 1] != 'a' + i)
            r->told[i] = -1;
    free(all);
    free(own);
    return m;
}

static void start(struct rank *r, void *(*body)(void *), int rank, int size)
{
    *r = (struct rank){
        .config = {.path = path, .rank = rank, .size = size, .timeout_ns = 120 * second}};
    assert_int_equal(pthread_create(&r->thread, NULL, body, r), 0);
}

/* Check that all ranks have met; then they leave. */
static void check_met(struct rank *ranks, int size)
{
    void *meetings[MOST_RANKS];

    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_join(ranks[r].thread, &meetings[r]), 0);
    for (int r = 0; r < size; r++) {
        if (ranks[r].status)
            print_error("rank %d: %s\n", r, ranks[r].err.text);
        assert_int_equal(ranks[r].status, DDP_OK);
        for (int i = 0; i < size; i++)
            assert_int_equal(ranks[r].told[i], 10 * i);
    }
    for (int r = 0; r < size; r++)
        ddp_rendezvous_close(meetings[r]);
}

static int is_there(int rank)
{
    char file[PATH_MAX + 16];

    (void)snprintf(file, sizeof file, "%s.%d", path, rank);
    return access(file, F_OK) == 0;
}

static void all_ranks_meet_and_leave_nothing(void **state)
{
    struct rank ranks[MOST_RANKS];

    (void)state;
    for (int size = 1; size <= MOST_RANKS; size++) {
        for (int r = size - 1; r >= 0; r--)
            start(&ranks[r], meet, r, size);
        check_met(ranks, size);
        for (int r = 0; r < size; r++)
            assert_false(is_there(r));
    }
}

static void *come(void *arg)
{
    struct rank *r = arg;
    ddp_rendezvous *m;

    r->status = ddp_rendezvous_open(&m, &r->config, &r->err);
    return m;
}

/* Ranks that have met, and never left. */
static void leave_files(int size)
{
    struct rank ranks[MOST_RANKS];
    char file[PATH_MAX + 16], kept[PATH_MAX + 16];
    void *m[MOST_RANKS];

    for (int r = 0; r < size; r++)
        start(&ranks[r], come, r, size);
    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_join(ranks[r].thread, &m[r]), 0);
    for (int r = 0; r < size; r++) {
        assert_int_equal(ranks[r].status, DDP_OK);
        (void)snprintf(file, sizeof file, "%s.%d", path, r);
        (void)snprintf(kept, sizeof kept, "%s.%d.kept", path, r);
        assert_int_equal(link(file, kept), 0);
        ddp_rendezvous_close(m[r]);
        assert_int_equal(rename(kept, file), 0);
    }
}

static void files_of_an_earlier_start_are_no_ranks(void **state)
{
    struct rank ranks[MOST_RANKS];

    (void)state;
    for (int before = 2; before <= MOST_RANKS; before++) {
        leave_files(before);
        for (int r = 0; r < 3; r++) {
            start(&ranks[r], meet, r, 3);
            (void)usleep(2000); /* each finds some of the old ones, and some of the new */
        }
        check_met(ranks, 3);
    }
}

static void alone(struct rank *r, int rank, int size)
{
    *r = (struct rank){
        .config = {.path = path, .rank = rank, .size = size, .timeout_ns = second / 5}};
    ddp_rendezvous_close(come(r));
}

static void a_rank_that_does_not_come_is_named(void **state)
{
    struct rank r;
    char want[PATH_MAX + 64];

    (void)state;
    alone(&r, 0, 3);
    assert_int_equal(r.status, DDP_ERR_COMM);
    (void)snprintf(want, sizeof want, "rank 1 has not come to %s for 0.2 s", path);
    assert_string_equal(r.err.text, want);
    assert_false(is_there(0));
    leave_files(2);
    alone(&r, 0, 3);
    assert_non_null(strstr(r.err.text, "rank 1 has not come to "));
    assert_non_null(strstr(r.err.text, ": its file is of a start of 2 ranks, and here they are 3"));
}

static void ranks_that_count_others_are_refused(void **state)
{
    struct rank ranks[2];
    void *m;

    (void)state;
    start(&ranks[0], come, 0, 2);
    start(&ranks[1], come, 1, 3);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(pthread_join(ranks[r].thread, &m), 0);
        assert_null(m);
        assert_int_equal(ranks[r].status, DDP_ERR_USAGE);
    }
    assert_string_equal(ranks[0].err.text, "rank 1 is of 3 ranks, and rank 0 of 2");
    assert_string_equal(ranks[1].err.text, "rank 0 is of 2 ranks, and rank 1 of 3");
}

/* The second writes over the first one's file, as often as the first one writes it. */
static void another_process_of_the_same_rank_is_noticed(void **state)
{
    char file[PATH_MAX + 16], twin[PATH_MAX + 16], copy[PATH_MAX + 16], want[PATH_MAX + 64];
    struct rank r;
    void *m;

    (void)state;
    leave_files(2);
    (void)snprintf(file, sizeof file, "%s.1", path);
    (void)snprintf(twin, sizeof twin, "%s.twin", path);
    (void)snprintf(copy, sizeof copy, "%s.copy", path);
    assert_int_equal(rename(file, twin), 0);
    start(&r, come, 1, 2);
    while (pthread_tryjoin_np(r.thread, &m)) {
        assert_int_equal(link(twin, copy), 0);
        assert_int_equal(rename(copy, file), 0);
        (void)unlink(copy); /* it stays where the file was the twin */
        (void)usleep(1000);
    }
    assert_null(m);
    (void)snprintf(want, sizeof want, "another process has come to %s as rank 1, too", path);
    assert_string_equal(r.err.text, want);
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    struct rank r;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/nowhere/meet", folder.path);
    alone(&r, 0, 2);
    assert_int_equal(r.status, DDP_ERR_IO);
    assert_non_null(strstr(r.err.text, "nowhere/meet.0: No such file or directory"));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(all_ranks_meet_and_leave_nothing),
        IN_A_FOLDER(files_of_an_earlier_start_are_no_ranks),
        IN_A_FOLDER(a_rank_that_does_not_come_is_named),
        IN_A_FOLDER(ranks_that_count_others_are_refused),
        IN_A_FOLDER(another_process_of_the_same_rank_is_noticed),
        IN_A_FOLDER(a_file_that_cannot_be_written_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
