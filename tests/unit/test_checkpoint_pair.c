/* ddp-test: quick */
/* Saving pairs: whatever fails, whoever is killed when, one complete pair is there.
 *
 * The calls of the system that a save makes are this file's: they count, and at a chosen
 * one they fail, or end the process. */
#include "numbers.h"
#include "pair_folder.h"
#include "toy_checkpoint.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* ---- calls that fail ---- */

static enum { WORKS, FAILS, DIES } fate = WORKS;
static int countdown;   /* calls until fate comes true; 0: never */
static char trace[256]; /* of what makes files last */

static void note_call(const char *name)
{
    (void)snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%s ", name);
}

enum { KILLED = 9 };

/* Does this call fail? */
static int fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return 0;
    if (fate == DIES)
        _exit(KILLED);
    errno = ENOSPC;
    return fate == FAILS;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    int last = countdown == 1;

    if (last && fate != WORKS)
        (void)syscall(SYS_write, fd, data, bytes / 2);
    return fails() ? -1 : syscall(SYS_write, fd, data, bytes);
}

int fsync(int fd)
{
    (void)fd; /* the disk itself is not under test */
    note_call("fsync");
    return fails() ? -1 : 0;
}

int close(int fd)
{
    int failed = fails();
    int result = (int)syscall(SYS_close, fd);

    if (failed)
        errno = ENOSPC;
    return failed ? -1 : result;
}

int rename(const char *from, const char *to)
{
    note_call(strrchr(to, '/'));
    return fails() ? -1 : (int)syscall(SYS_rename, from, to);
}

static void arm(int calls, int what)
{
    countdown = calls;
    fate = what;
}

/* ---- saving and finding, with no failure to come ---- */

static int open_folder(void **state)
{
    arm(0, WORKS);
    return pair_folder_open(state);
}

static void must_save(const char *name, int number)
{
    arm(0, WORKS);
    assert_true(pair_save(name, number));
}

static int find(const char *want_name)
{
    arm(0, WORKS);
    return pair_find(want_name);
}

static void each_step_is_on_the_disk_before_the_next(void **state)
{
    (void)state;
    trace[0] = 0;
    must_save("toy.backup", 1);
    assert_string_equal(trace, "fsync fsync /toy.backup.state.part fsync /toy.backup fsync "
                               "/toy.backup.state fsync ");
}

/* ---- failures and deaths ---- */

/* Save; the call-th call fails. Returns 0 if that many were not made. */
static int save_with_failure(int call)
{
    int saved, number;

    arm(call, FAILS);
    saved = pair_save("toy.backup", 2);
    if (countdown > 0)
        return 0;
    number = find("toy.backup");
    if (saved ? number != 2 : number != 1 && number != 2)
        fail_msg("with call %d failing, the save %s and %d is found", call,
                 saved ? "succeeded" : "failed", number);
    pair_expect_names("toy.backup toy.backup.state");
    pair_expect_notes("");
    return 1;
}

static void after_any_failure_a_pair_is_left_and_nothing_else(void **state)
{
    int calls = 0;

    (void)state;
    do
        must_save("toy.backup", 1);
    while (save_with_failure(++calls));
    assert_in_range(calls, 10, 60);
    assert_int_equal(find("toy.backup"), 2);
}

static void first_save_that_fails_leaves_nothing_to_find(void **state)
{
    (void)state;
    for (int call = 1;; call++) {
        arm(call, FAILS);
        if (pair_save("toy.backup", 1))
            break;
        if (find(NULL) == 0)
            pair_expect_names("");
        (void)unlink(folder_file(&pair_folder, "toy.backup"));
        (void)unlink(folder_file(&pair_folder, "toy.backup.state"));
    }
    pair_expect_notes("");
}

/* Save in a process that is killed at its call-th call. Returns 0 if that many were not made. */
static int save_and_die(int number, int call)
{
    pid_t child = fork();
    int status;

    assert_at_least(child, 0);
    if (child == 0) {
        arm(call, DIES);
        _exit(pair_save("toy.backup", number) ? 0 : 1);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == KILLED);
    return WEXITSTATUS(status) == KILLED;
}

static void after_any_death_a_pair_is_found(void **state)
{
    int last = 1, calls = 0;

    (void)state;
    must_save("toy.backup", 1);
    while (save_and_die(2, ++calls)) {
        int number = find("toy.backup");

        if (number != 1 && number != 2)
            fail_msg("death at call %d leaves %d", calls, number);
        assert_at_least(number, last); /* from the first rename on, the new one */
        last = number;
        pair_expect_notes("");
        assert_int_equal(find("toy.backup"), number); /* and finding finished it */
        if (number == 2)
            pair_expect_names("toy.backup toy.backup.state");
        must_save("toy.backup", 1);
        last = last == 2 ? 2 : 1;
    }
    assert_int_equal(last, 2);
    assert_in_range(calls, 10, 60);
}

static int is_between_renames(void)
{
    char names[512];

    folder_list(&pair_folder, names, sizeof names);
    return strstr(names, ".part-") == NULL && strstr(names, "toy.backup.state.part") != NULL;
}

/* Die between the last two renames, wherever that is, and then in the next save at its call-th
 * call, without a find in between. Returns how often that was tried. */
static int die_twice(int call)
{
    int tried = 0;

    for (int first = 1;; first++) {
        int number;

        must_save("toy.backup", 1);
        if (!save_and_die(2, first))
            return tried;
        if (!is_between_renames())
            continue;
        tried++;
        (void)save_and_die(3, call);
        number = find("toy.backup");
        if (number != 2 && number != 3)
            fail_msg("deaths at calls %d and %d leave %d", first, call, number);
        pair_expect_notes("");
    }
}

static void after_two_deaths_a_pair_is_found(void **state)
{
    int calls = 0;

    (void)state;
    do {
        assert_greater(die_twice(++calls), 0);
        must_save("toy.backup", 1);
    } while (save_and_die(3, calls));
    assert_in_range(calls, 10, 60);
}

/* ---- in two halves ---- */

static ddp_pair_writing *begin(int number)
{
    ddp_pair_writing *w;
    ddp_error err;

    if (toy_checkpoint_write(&w, folder_file(&pair_folder, "toy.backup"), "toy", number, &err))
        fail_msg("%s", err.text);
    return w;
}

static void nothing_is_there_before_it_is_finished(void **state)
{
    ddp_pair_writing *first, *second, *third;
    ddp_error err;

    (void)state;
    must_save("toy.backup", 1);
    first = begin(2);
    second = begin(3);
    third = begin(4);
    assert_int_equal(find("toy.backup"), 1);
    assert_int_equal(ddp_pair_finish(first, &err), DDP_OK);
    assert_int_equal(find("toy.backup"), 2);
    ddp_pair_abandon(second);
    assert_int_equal(ddp_pair_finish(third, &err), DDP_OK);
    assert_int_equal(find("toy.backup"), 4);
    pair_expect_names("toy.backup toy.backup.state");
    pair_expect_notes("");
}

static uint64_t saved_at_ns_of(const char *name)
{
    ddp_checkpoint_metadata metadata;
    ddp_error err;

    if (ddp_checkpoint_peek(&metadata, folder_file(&pair_folder, name), &err))
        fail_msg("%s", err.text);
    return metadata.saved_at_ns;
}

static ddp_status copy_guarded(uint64_t saved_at_ns, const ddp_checkpoint_guard *guard,
                               ddp_error *err)
{
    char from[128];

    (void)snprintf(from, sizeof from, "%s", folder_file(&pair_folder, "toy.backup"));
    return ddp_pair_copy(folder_file(&pair_folder, "toy_5.weights"), from, saved_at_ns, guard, err);
}

static ddp_status copy(uint64_t saved_at_ns, ddp_error *err)
{
    return copy_guarded(saved_at_ns, NULL, err);
}

/* What is there goes to *ctx; NULL: the guard fails. */
static ddp_status move_away(void *ctx, const char *path, ddp_error *err)
{
    char state[256], to[256];

    assert_string_equal(path, folder_file(&pair_folder, "toy_5.weights"));
    assert_int_equal(find("toy_5.weights"), 2);
    if (!ctx)
        return ddp_fail(err, DDP_ERR_IO, "guarded");
    (void)snprintf(state, sizeof state, "%s.state", path);
    (void)snprintf(to, sizeof to, "%s.state", folder_file(&pair_folder, ctx));
    assert_int_equal(rename(state, to), 0);
    (void)snprintf(state, sizeof state, "%s", path);
    assert_int_equal(rename(state, folder_file(&pair_folder, ctx)), 0);
    return DDP_OK;
}

static void what_lies_in_its_place_can_be_moved_away_at_the_last_moment(void **state)
{
    static char kept[] = "toy_4.weights";
    ddp_error err;

    (void)state;
    must_save("toy.backup", 1);
    must_save("toy_5.weights", 2);
    assert_int_equal(copy_guarded(saved_at_ns_of("toy.backup.state"),
                                  &(ddp_checkpoint_guard){move_away, NULL}, &err),
                     DDP_ERR_IO);
    assert_non_null(strstr(err.text, "guarded"));
    assert_int_equal(find("toy_5.weights"), 2);
    assert_int_equal(copy_guarded(saved_at_ns_of("toy.backup.state"),
                                  &(ddp_checkpoint_guard){move_away, kept}, &err),
                     DDP_OK);
    pair_expect_names("toy.backup toy.backup.state toy_4.weights toy_4.weights.state toy_5.weights "
                      "toy_5.weights.state");
    assert_int_equal(find(kept), 2);
}

static void a_copy_is_the_same_pair(void **state)
{
    ddp_error err;
    size_t bytes[2];
    char *states[2];

    (void)state;
    must_save("toy.backup", 5);
    assert_int_equal(copy(saved_at_ns_of("toy.backup.state"), &err), DDP_OK);
    states[0] = folder_read(folder_file(&pair_folder, "toy.backup.state"), &bytes[0]);
    states[1] = folder_read(folder_file(&pair_folder, "toy_5.weights.state"), &bytes[1]);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(states[0], states[1], bytes[0]);
    free(states[0]);
    free(states[1]);
    pair_expect_names("toy.backup toy.backup.state toy_5.weights toy_5.weights.state");
    (void)unlink(folder_file(&pair_folder, "toy.backup.state"));
    assert_int_equal(find("toy_5.weights"), 5);
}

static void another_pair_is_not_copied(void **state)
{
    ddp_error err;

    (void)state;
    must_save("toy.backup", 5);
    assert_int_equal(copy(saved_at_ns_of("toy.backup.state") + 1, &err), DDP_ERR_IO);
    assert_non_null(strstr(err.text, "toy.backup: it was not saved"));
    folder_write(folder_file(&pair_folder, "toy.backup"), "others", 6);
    assert_int_equal(copy(saved_at_ns_of("toy.backup.state"), &err), DDP_ERR_IO);
    assert_non_null(strstr(err.text, "its weights are not those that its state describes"));
    pair_expect_names("toy.backup toy.backup.state");
}

/* Copy number 5 over number 1 in a process whose call-th call fails, or kills it. Returns 0 if that
 * many were not made. */
static int copy_and_stumble(int call, int what)
{
    uint64_t saved_at_ns = saved_at_ns_of("toy.backup.state");
    pid_t child = fork();
    ddp_error err;
    int status;

    assert_at_least(child, 0);
    if (child == 0) {
        arm(call, what);
        (void)copy(saved_at_ns, &err);
        _exit(countdown > 0 ? 0 : KILLED);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status) == KILLED;
}

static void whatever_ends_a_copy_the_old_pair_or_it_is_left(void **state)
{
    (void)state;
    for (int what = FAILS; what <= DIES; what++) {
        int stumbles = 1, number = 1;

        for (int call = 1; stumbles; call++) {
            must_save("toy_5.weights", 1);
            must_save("toy.backup", 5);
            stumbles = copy_and_stumble(call, what);
            (void)unlink(folder_file(&pair_folder, "toy.backup"));
            (void)unlink(folder_file(&pair_folder, "toy.backup.state"));
            number = find("toy_5.weights");
            if (number != 1 && number != 5)
                fail_msg("with call %d %s, %d is found", call, what == DIES ? "fatal" : "failing",
                         number);
            pair_expect_notes("");
            assert_in_range(call, 1, 60);
        }
        assert_int_equal(number, 5);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, pair_folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(each_step_is_on_the_disk_before_the_next),
        IN_A_FOLDER(after_any_failure_a_pair_is_left_and_nothing_else),
        IN_A_FOLDER(first_save_that_fails_leaves_nothing_to_find),
        IN_A_FOLDER(after_any_death_a_pair_is_found),
        IN_A_FOLDER(after_two_deaths_a_pair_is_found),
        IN_A_FOLDER(nothing_is_there_before_it_is_finished),
        IN_A_FOLDER(a_copy_is_the_same_pair),
        IN_A_FOLDER(what_lies_in_its_place_can_be_moved_away_at_the_last_moment),
        IN_A_FOLDER(another_pair_is_not_copied),
        IN_A_FOLDER(whatever_ends_a_copy_the_old_pair_or_it_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
