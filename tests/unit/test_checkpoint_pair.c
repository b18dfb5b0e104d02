/* Saving pairs: whatever fails, whoever is killed when, one complete pair is there.
 *
 * The calls of the system that a save makes are this file's: they count, and at a chosen
 * one they fail, or end the process. */
#include "checkpoint/pair.h"
#include "folder.h"
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

/* ---- a folder, and what find says of it ---- */

static struct folder folder;
static char notes[2048];

/* Paths become names. */
static void take_note(void *ctx, const char *sentence)
{
    char *at;

    (void)ctx;
    (void)snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
    while ((at = strstr(notes, folder.path)) != NULL)
        memmove(at, at + strlen(folder.path) + 1, strlen(at + strlen(folder.path)));
}

static int open_folder(void **state)
{
    (void)state;
    arm(0, WORKS);
    notes[0] = 0;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

/* Save; returns 0 if it failed. */
static int save(const char *name, int number)
{
    ddp_error err = {0};
    ddp_status st;

    trace[0] = 0;
    st = toy_checkpoint_save(folder_file(&folder, name), "toy", number, &err);
    if (st && (st != DDP_ERR_IO || !strstr(err.text, "No space left on device")))
        fail_msg("%s failed with %d: %s", name, st, err.text);
    return st == DDP_OK;
}

static void must_save(const char *name, int number)
{
    arm(0, WORKS);
    assert_true(save(name, number));
}

/* The number of the pair that is found, whose parts must all be its own; 0: there is none. */
static int find(const char *want_name)
{
    const ddp_pair_listener listener = {take_note, NULL};
    ddp_error err = {0};
    ddp_pair pair;
    int number = 0;

    arm(0, WORKS);
    if (ddp_pair_find(&pair, folder.path, "toy", &listener, &err))
        fail_msg("%s", err.text);
    if (pair.weights) {
        number = (int)pair.checkpoint.metadata.step;
        toy_checkpoint_expect(&pair.checkpoint, "toy", number);
        toy_checkpoint_expect_weights(pair.weights, number);
        if (want_name)
            assert_string_equal(pair.weights, folder_file(&folder, want_name));
    }
    ddp_pair_release(&pair);
    return number;
}

static void expect_notes(const char *want)
{
    assert_string_equal(notes, want);
    notes[0] = 0;
}

static void expect_names(const char *want)
{
    char names[512];

    folder_list(&folder, names, sizeof names);
    assert_string_equal(names, want);
}

/* ---- saving and finding ---- */

static void pair_is_found_again(void **state)
{
    (void)state;
    assert_int_equal(find(NULL), 0);
    must_save("toy.backup", 1);
    expect_names("toy.backup toy.backup.state");
    assert_int_equal(find("toy.backup"), 1);
    must_save("toy.backup", 2);
    expect_names("toy.backup toy.backup.state");
    assert_int_equal(find("toy.backup"), 2);
    expect_notes("");
}

static void each_step_is_on_the_disk_before_the_next(void **state)
{
    (void)state;
    must_save("toy.backup", 1);
    assert_string_equal(trace, "fsync fsync /toy.backup.state.part fsync /toy.backup fsync "
                               "/toy.backup.state fsync ");
}

static void newest_pair_is_found(void **state)
{
    (void)state;
    must_save("toy_300.weights", 30);
    must_save("toy_100.weights", 10);
    assert_int_equal(find("toy_100.weights"), 10);
    must_save("toy.weights", 5);
    assert_int_equal(find("toy.weights"), 5);
    must_save("toy_final.weights", 4);
    assert_int_equal(find("toy_final.weights"), 4);
    must_save("toy.backup", 3);
    assert_int_equal(find("toy.backup"), 3);
    expect_notes("");
}

/* Where clocks differ: a save is later than the one that it goes on from. */
static void saves_follow_each_other_whatever_the_clock_says(void **state)
{
    const uint64_t future = UINT64_C(1) << 62;
    struct toy_checkpoint t;
    ddp_file_checksum sum;
    ddp_pair_header latest;
    ddp_error err;
    ddp_file *f;

    (void)state;
    assert_int_equal(ddp_pair_latest(&latest, folder.path, "toy", &err), DDP_OK);
    assert_null(latest.weights);
    assert_true(latest.saved_at_ns == 0);
    for (int i = 1; i < 3; i++) { /* the same time; the later step counts */
        char name[64];
        int renamed;

        (void)snprintf(name, sizeof name, "toy_%d.weights", i);
        must_save(name, i);
        toy_checkpoint_make(&t, "toy", i);
        t.checkpoint.metadata.saved_at_ns = future;
        assert_int_equal(ddp_file_checksum_of(folder_file(&folder, name), &sum, &err), DDP_OK);
        t.checkpoint.metadata.weights_bytes = sum.bytes;
        t.checkpoint.metadata.weights_hash = sum.hash;
        (void)snprintf(name, sizeof name, "toy_%d.weights.state", i);
        assert_int_equal(ddp_file_create(&f, folder_file(&folder, name), &err), DDP_OK);
        assert_int_equal(ddp_checkpoint_write(&t.checkpoint, f, &err), DDP_OK);
        assert_int_equal(ddp_file_finish(f, &sum, &err), DDP_OK);
        assert_int_equal(ddp_file_publish(f, &renamed, &err), DDP_OK);
    }
    must_save("toy.backup", 9);
    assert_int_equal(find("toy_2.weights"), 2);
    assert_int_equal(ddp_pair_latest(&latest, folder.path, "toy", &err), DDP_OK);
    assert_true(latest.saved_at_ns == future);
    assert_int_equal(latest.step, 2);
    assert_string_equal(latest.weights, folder_file(&folder, "toy_2.weights"));
    free(latest.weights);
}

static void weights_alone_are_left_alone(void **state)
{
    (void)state;
    folder_write(folder_file(&folder, "toy_500.weights"), "x", 1);
    folder_write(folder_file(&folder, "toy.backup"), "x", 1);
    assert_int_equal(find(NULL), 0);
    expect_notes("");
}

static void pairs_of_other_names_are_not_ours(void **state)
{
    const char *path = folder_file(&folder, "toy_5.weights");
    ddp_error err;

    (void)state;
    must_save("toy2.backup", 1);
    must_save("toy_x.weights", 1);
    must_save("toy_5_final.weights", 1);
    assert_int_equal(find(NULL), 0);
    expect_notes("");
    assert_int_equal(toy_checkpoint_save(path, "toy_5", 1, &err), DDP_OK);
    assert_int_equal(find(NULL), 0);
    expect_notes("skipped toy_5.weights: toy_5.weights.state is of toy_5, not of toy\n");
}

static void damaged_pairs_are_passed_over_with_a_sentence(void **state)
{
    size_t size;
    char *bytes;

    (void)state;
    must_save("toy_1.weights", 1);
    must_save("toy_2.weights", 2);
    bytes = folder_read(folder_file(&folder, "toy_2.weights.state"), &size);
    bytes[size - 30] ^= 4;
    folder_write(folder_file(&folder, "toy_2.weights.state"), bytes, size);
    assert_int_equal(find("toy_1.weights"), 1);
    expect_notes("skipped toy_2.weights: toy_2.weights.state: its checksum is wrong\n");

    folder_write(folder_file(&folder, "toy_2.weights.state"), bytes, 30);
    free(bytes);
    assert_int_equal(find("toy_1.weights"), 1);
    expect_notes(
        "skipped toy_2.weights: toy_2.weights.state: its header is damaged at saved_at_ns\n");

    must_save("toy_2.weights", 2);
    bytes = folder_read(folder_file(&folder, "toy_2.weights"), &size);
    folder_write(folder_file(&folder, "toy_2.weights"), bytes, size - 1);
    assert_int_equal(find("toy_1.weights"), 1);
    expect_notes("skipped toy_2.weights: toy_2.weights has 3999 bytes, its state says 4000\n");

    bytes[7] ^= 1;
    folder_write(folder_file(&folder, "toy_2.weights"), bytes, size);
    free(bytes);
    assert_int_equal(find("toy_1.weights"), 1);
    expect_notes("skipped toy_2.weights: toy_2.weights is not the file that its state describes\n");

    assert_int_equal(unlink(folder_file(&folder, "toy_2.weights")), 0);
    assert_int_equal(find("toy_1.weights"), 1);
    expect_notes("skipped toy_2.weights: cannot read toy_2.weights: No such file or directory\n");
}

static void the_only_pair_that_is_damaged_is_an_error(void **state)
{
    const ddp_pair_listener listener = {take_note, NULL};
    ddp_error err;
    ddp_pair pair;
    size_t size;
    char *bytes;

    (void)state;
    arm(0, WORKS);
    must_save("toy.backup", 1);
    bytes = folder_read(folder_file(&folder, "toy.backup.state"), &size);
    bytes[size - 30] ^= 4;
    folder_write(folder_file(&folder, "toy.backup.state"), bytes, size);
    free(bytes);
    assert_int_equal(ddp_pair_find(&pair, folder.path, "toy", &listener, &err), DDP_ERR_FORMAT);
    assert_non_null(strstr(err.text, "no checkpoint is left to resume from: of "));
    assert_non_null(strstr(err.text, "toy.backup.state: its checksum is wrong"));
    assert_null(pair.weights);
    assert_string_equal(pair.damaged, folder_file(&folder, "toy.backup"));
    ddp_pair_release(&pair);
    notes[0] = 0;

    /* Its weights may be what is damaged. */
    must_save("toy.backup", 1);
    folder_write(folder_file(&folder, "toy.backup"), "x", 1);
    assert_int_equal(ddp_pair_find(&pair, folder.path, "toy", &listener, &err), DDP_ERR_FORMAT);
    ddp_pair_release(&pair);
    notes[0] = 0;

    /* There is nothing to lose. */
    assert_int_equal(unlink(folder_file(&folder, "toy.backup")), 0);
    assert_int_equal(find(NULL), 0);
    notes[0] = 0;
}

static void missing_directory_is_an_error(void **state)
{
    const ddp_pair_listener listener = {take_note, NULL};
    ddp_error err;
    ddp_pair pair;

    (void)state;
    assert_int_equal(ddp_pair_find(&pair, "/no/such", "toy", &listener, &err), DDP_ERR_IO);
    assert_string_equal(err.text, "cannot read directory /no/such: No such file or directory");
    assert_null(pair.weights);
}

/* ---- failures and deaths ---- */

/* Save; the call-th call fails. Returns 0 if that many were not made. */
static int save_with_failure(int call)
{
    int saved, number;

    arm(call, FAILS);
    saved = save("toy.backup", 2);
    if (countdown > 0)
        return 0;
    number = find("toy.backup");
    if (saved ? number != 2 : number != 1 && number != 2)
        fail_msg("with call %d failing, the save %s and %d is found", call,
                 saved ? "succeeded" : "failed", number);
    expect_names("toy.backup toy.backup.state");
    expect_notes("");
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
        if (save("toy.backup", 1))
            break;
        if (find(NULL) == 0)
            expect_names("");
        (void)unlink(folder_file(&folder, "toy.backup"));
        (void)unlink(folder_file(&folder, "toy.backup.state"));
    }
    expect_notes("");
}

/* Save in a process that is killed at its call-th call. Returns 0 if that many were not made. */
static int save_and_die(int number, int call)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        arm(call, DIES);
        _exit(save("toy.backup", number) ? 0 : 1);
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
        assert_true(number >= last); /* from the first rename on, the new one */
        last = number;
        expect_notes("");
        assert_int_equal(find("toy.backup"), number); /* and finding finished it */
        if (number == 2)
            expect_names("toy.backup toy.backup.state");
        must_save("toy.backup", 1);
        last = last == 2 ? 2 : 1;
    }
    assert_int_equal(last, 2);
    assert_in_range(calls, 10, 60);
}

static int is_between_renames(void)
{
    char names[512];

    folder_list(&folder, names, sizeof names);
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
        expect_notes("");
    }
}

static void after_two_deaths_a_pair_is_found(void **state)
{
    int calls = 0;

    (void)state;
    do {
        assert_true(die_twice(++calls) > 0);
        must_save("toy.backup", 1);
    } while (save_and_die(3, calls));
    assert_in_range(calls, 10, 60);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(pair_is_found_again),
        IN_A_FOLDER(each_step_is_on_the_disk_before_the_next),
        IN_A_FOLDER(newest_pair_is_found),
        IN_A_FOLDER(saves_follow_each_other_whatever_the_clock_says),
        IN_A_FOLDER(weights_alone_are_left_alone),
        IN_A_FOLDER(pairs_of_other_names_are_not_ours),
        IN_A_FOLDER(damaged_pairs_are_passed_over_with_a_sentence),
        IN_A_FOLDER(the_only_pair_that_is_damaged_is_an_error),
        IN_A_FOLDER(missing_directory_is_an_error),
        IN_A_FOLDER(after_any_failure_a_pair_is_left_and_nothing_else),
        IN_A_FOLDER(first_save_that_fails_leaves_nothing_to_find),
        IN_A_FOLDER(after_any_death_a_pair_is_found),
        IN_A_FOLDER(after_two_deaths_a_pair_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
