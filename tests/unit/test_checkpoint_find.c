/* ddp-test: quick */
/* Finding pairs: the newest whole one, and a sentence for each that is not. */
#include "numbers.h"
#include "pair_folder.h"
#include "toy_checkpoint.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void pair_is_found_again(void **state)
{
    (void)state;
    assert_int_equal(pair_find(NULL), 0);
    assert_true(pair_save("toy.backup", 1));
    pair_expect_names("toy.backup toy.backup.state");
    assert_int_equal(pair_find("toy.backup"), 1);
    assert_true(pair_save("toy.backup", 2));
    pair_expect_names("toy.backup toy.backup.state");
    assert_int_equal(pair_find("toy.backup"), 2);
    pair_expect_notes("");
}

static void newest_pair_is_found(void **state)
{
    (void)state;
    assert_true(pair_save("toy_300.weights", 30));
    assert_true(pair_save("toy_100.weights", 10));
    assert_int_equal(pair_find("toy_100.weights"), 10);
    assert_true(pair_save("toy.weights", 5));
    assert_int_equal(pair_find("toy.weights"), 5);
    assert_true(pair_save("toy_final.weights", 4));
    assert_int_equal(pair_find("toy_final.weights"), 4);
    assert_true(pair_save("toy.backup", 3));
    assert_int_equal(pair_find("toy.backup"), 3);
    assert_true(pair_save("toy_10000.backup", 2));
    assert_int_equal(pair_find("toy_10000.backup"), 2);
    pair_expect_notes("");
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
    assert_int_equal(ddp_pair_latest(&latest, pair_folder.path, "toy", &err), DDP_OK);
    assert_null(latest.weights);
    assert_number_equal(latest.newest_saved_at_ns, 0);
    for (int i = 1; i < 3; i++) { /* the same time; the later step counts */
        char name[64];
        int renamed;

        (void)snprintf(name, sizeof name, "toy_%d.weights", i);
        assert_true(pair_save(name, i));
        toy_checkpoint_make(&t, "toy", i);
        t.checkpoint.metadata.saved_at_ns = future;
        assert_int_equal(ddp_file_checksum_of(folder_file(&pair_folder, name), &sum, &err), DDP_OK);
        t.checkpoint.metadata.weights_bytes = sum.bytes;
        t.checkpoint.metadata.weights_hash = sum.hash;
        (void)snprintf(name, sizeof name, "toy_%d.weights.state", i);
        assert_int_equal(ddp_file_create(&f, folder_file(&pair_folder, name), &err), DDP_OK);
        assert_int_equal(ddp_checkpoint_write(&t.checkpoint, f, &err), DDP_OK);
        assert_int_equal(ddp_file_finish(f, &sum, &err), DDP_OK);
        assert_int_equal(ddp_file_publish(f, &renamed, &err), DDP_OK);
    }
    assert_true(pair_save("toy.backup", 9));
    assert_int_equal(pair_find("toy_2.weights"), 2);
    assert_int_equal(ddp_pair_latest(&latest, pair_folder.path, "toy", &err), DDP_OK);
    assert_number_equal(latest.newest_saved_at_ns, future);
    assert_int_equal(latest.step, 2);
    assert_string_equal(latest.weights, folder_file(&pair_folder, "toy_2.weights"));
    free(latest.weights);
    assert_int_equal(unlink(folder_file(&pair_folder, "toy_2.weights")), 0);
    assert_int_equal(ddp_pair_latest(&latest, pair_folder.path, "toy", &err), DDP_OK);
    assert_string_equal(latest.weights, folder_file(&pair_folder, "toy_1.weights"));
    assert_number_equal(latest.newest_saved_at_ns, future);
    free(latest.weights);
}

static void pairs_of_a_validation_are_found(void **state)
{
    (void)state;
    assert_true(pair_save("toy.backup", 10));
    assert_true(pair_save("toy_best.weights", 20));
    assert_int_equal(pair_find("toy_best.weights"), 20);
    assert_true(pair_save("toy_last.weights", 30));
    assert_int_equal(pair_find("toy_last.weights"), 30);
    assert_true(pair_save("toy.backup", 40));
    assert_int_equal(pair_find("toy.backup"), 40);
    pair_expect_notes("");
}

static void weights_without_a_state_are_refused(void **state)
{
    static const char *const names[] = {"toy.backup", "toy_last.weights", "toy_best.weights"};
    ddp_pair_listener listener = {0};
    ddp_error err;
    ddp_pair pair;

    (void)state;
    folder_write(folder_file(&pair_folder, "toy2.weights"), "x", 1);    /* of another */
    folder_write(folder_file(&pair_folder, "toy_500.weights"), "x", 1); /* the same, maybe */
    assert_int_equal(pair_find(NULL), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = folder_file(&pair_folder, names[i]);

        folder_write(path, "x", 1);
        assert_int_equal(ddp_pair_find(&pair, pair_folder.path, "toy", &listener, &err), DDP_OK);
        assert_int_equal(pair.there, DDP_THERE_BARE);
        assert_string_equal(pair.weights, path);
        assert_non_null(strstr(pair.why.text, names[i]));
        assert_non_null(strstr(pair.why.text, "has no state file"));
        ddp_pair_release(&pair);
        assert_int_equal(unlink(path), 0);
    }
}

static void pairs_of_other_names_are_not_ours(void **state)
{
    const char *path = folder_file(&pair_folder, "toy_5.weights");
    ddp_error err;

    (void)state;
    assert_true(pair_save("toy2.backup", 1));
    assert_true(pair_save("toy_x.weights", 1));
    assert_true(pair_save("toy_5_final.weights", 1));
    assert_int_equal(pair_find(NULL), 0);
    pair_expect_notes("");
    assert_int_equal(toy_checkpoint_save(path, "toy_5", 1, &err), DDP_OK);
    assert_int_equal(pair_find(NULL), 0);
    pair_expect_notes("skipped toy_5.weights: toy_5.weights.state is of toy_5, not of toy\n");
}

static void damaged_pairs_are_passed_over_with_a_sentence(void **state)
{
    size_t size;
    char *bytes;

    (void)state;
    assert_true(pair_save("toy_1.weights", 1));
    assert_true(pair_save("toy_2.weights", 2));
    bytes = folder_read(folder_file(&pair_folder, "toy_2.weights.state"), &size);
    bytes[size - 30] ^= 4;
    folder_write(folder_file(&pair_folder, "toy_2.weights.state"), bytes, size);
    assert_int_equal(pair_find("toy_1.weights"), 1);
    pair_expect_notes("skipped toy_2.weights: toy_2.weights.state: its checksum is wrong\n");

    folder_write(folder_file(&pair_folder, "toy_2.weights.state"), bytes, 30);
    free(bytes);
    assert_int_equal(pair_find("toy_1.weights"), 1);
    pair_expect_notes("skipped toy_2.weights: toy_2.weights.state: the line saved_at_ns of its "
                      "header is damaged\n");

    assert_true(pair_save("toy_2.weights", 2));
    bytes = folder_read(folder_file(&pair_folder, "toy_2.weights"), &size);
    folder_write(folder_file(&pair_folder, "toy_2.weights"), bytes, size - 1);
    assert_int_equal(pair_find("toy_1.weights"), 1);
    pair_expect_notes("skipped toy_2.weights: toy_2.weights has 3999 bytes, its state says 4000\n");

    bytes[7] ^= 1;
    folder_write(folder_file(&pair_folder, "toy_2.weights"), bytes, size);
    free(bytes);
    assert_int_equal(pair_find("toy_1.weights"), 1);
    pair_expect_notes(
        "skipped toy_2.weights: toy_2.weights is not the file that its state describes\n");

    assert_int_equal(unlink(folder_file(&pair_folder, "toy_2.weights")), 0);
    assert_int_equal(pair_find("toy_1.weights"), 1);
    pair_expect_notes(
        "skipped toy_2.weights: cannot read toy_2.weights: No such file or directory\n");
}

static void the_only_pair_that_is_damaged_is_an_error(void **state)
{
    ddp_error err;
    ddp_pair pair;
    size_t size;
    char *bytes;

    (void)state;
    assert_true(pair_save("toy.backup", 1));
    bytes = folder_read(folder_file(&pair_folder, "toy.backup.state"), &size);
    bytes[size - 30] ^= 4;
    folder_write(folder_file(&pair_folder, "toy.backup.state"), bytes, size);
    free(bytes);
    assert_int_equal(ddp_pair_find(&pair, pair_folder.path, "toy", &pair_listener, &err), DDP_OK);
    assert_int_equal(pair.there, DDP_THERE_DAMAGED);
    assert_non_null(strstr(pair.why.text, "no checkpoint is left to resume from: "));
    assert_non_null(strstr(pair.why.text, "toy.backup.state: its checksum is wrong"));
    assert_string_equal(pair.weights, folder_file(&pair_folder, "toy.backup"));
    ddp_pair_release(&pair);
    pair_forget_notes();

    /* Its weights may be what is damaged. */
    assert_true(pair_save("toy.backup", 1));
    folder_write(folder_file(&pair_folder, "toy.backup"), "x", 1);
    assert_int_equal(ddp_pair_find(&pair, pair_folder.path, "toy", &pair_listener, &err), DDP_OK);
    assert_int_equal(pair.there, DDP_THERE_DAMAGED);
    ddp_pair_release(&pair);
    pair_forget_notes();

    /* There is nothing to lose. */
    assert_int_equal(unlink(folder_file(&pair_folder, "toy.backup")), 0);
    assert_int_equal(pair_find(NULL), 0);
    pair_forget_notes();
}

static void spoil_weights(const char *name, time_t written)
{
    const struct timespec times[2] = {{.tv_sec = written}, {.tv_sec = written}};

    folder_write(folder_file(&pair_folder, name), "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, folder_file(&pair_folder, name), times, 0), 0);
}

/* Files are as old as the clock said when they were written. */
static void of_damaged_pairs_the_newest_is_named_whatever_the_clock_said(void **state)
{
    ddp_error err;
    ddp_pair pair;

    (void)state;
    assert_true(pair_save("toy_1.weights", 1));
    assert_true(pair_save("toy_2.weights", 2));
    spoil_weights("toy_1.weights", 2000000000);
    spoil_weights("toy_2.weights", 1000000000);
    assert_int_equal(ddp_pair_find(&pair, pair_folder.path, "toy", &pair_listener, &err), DDP_OK);
    assert_int_equal(pair.there, DDP_THERE_DAMAGED);
    assert_string_equal(pair.weights, folder_file(&pair_folder, "toy_2.weights"));
    ddp_pair_release(&pair);
    pair_forget_notes();
}

static void missing_directory_is_an_error(void **state)
{
    ddp_error err;
    ddp_pair pair;

    (void)state;
    assert_int_equal(ddp_pair_find(&pair, "/no/such", "toy", &pair_listener, &err), DDP_ERR_IO);
    assert_string_equal(err.text, "cannot read directory /no/such: No such file or directory");
    assert_null(pair.weights);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, pair_folder_open, pair_folder_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(pair_is_found_again),
        IN_A_FOLDER(newest_pair_is_found),
        IN_A_FOLDER(saves_follow_each_other_whatever_the_clock_says),
        IN_A_FOLDER(pairs_of_a_validation_are_found),
        IN_A_FOLDER(weights_without_a_state_are_refused),
        IN_A_FOLDER(pairs_of_other_names_are_not_ours),
        IN_A_FOLDER(damaged_pairs_are_passed_over_with_a_sentence),
        IN_A_FOLDER(the_only_pair_that_is_damaged_is_an_error),
        IN_A_FOLDER(of_damaged_pairs_the_newest_is_named_whatever_the_clock_said),
        IN_A_FOLDER(missing_directory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
