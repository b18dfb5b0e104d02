/* ddp-test: quick */
/* Keeping the last pairs: what goes, and what stays. */
#include "checkpoint/find.h"
#include "checkpoint/pair.h"
#include "folder.h"
#include "toy_checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

static void must_save(const char *name, int number)
{
    ddp_error err;

    if (toy_checkpoint_save(folder_file(&folder, name), "toy", number, &err))
        fail_msg("%s", err.text);
}

static void expect_names(const char *want)
{
    char names[512];

    folder_list(&folder, names, sizeof names);
    assert_string_equal(names, want);
}

static void keep(size_t count)
{
    ddp_error err;

    if (ddp_pair_prune(folder.path, "toy", count, &err))
        fail_msg("%s", err.text);
}

static void oldest_numbered_pairs_go(void **state)
{
    (void)state;
    for (int i = 4; i > 0; i--) {
        char name[32];

        (void)snprintf(name, sizeof name, "toy_%d.weights", i);
        must_save(name, i);
    }
    keep(4);
    keep(2);
    expect_names("toy_1.weights toy_1.weights.state toy_2.weights toy_2.weights.state");
    keep(1);
    expect_names("toy_1.weights toy_1.weights.state");
}

static void states_of_all_but_the_newest_are_reduced(void **state)
{
    ddp_checkpoint_metadata first, second, last;
    ddp_error err;

    (void)state;
    must_save("toy_1.weights", 1);
    must_save("toy_2.weights", 2);
    keep(2);
    keep(2);
    assert_int_equal(
        ddp_checkpoint_peek(&first, folder_file(&folder, "toy_1.weights.state"), &err)
            || ddp_checkpoint_peek(&second, folder_file(&folder, "toy_2.weights.state"), &err),
        DDP_OK);
    assert_int_equal(first.is_header_alone, 1);
    assert_int_equal(first.step, 1);
    assert_int_equal(second.is_header_alone, 0);
    must_save("toy.backup", 3);
    keep(2);
    assert_int_equal(
        ddp_checkpoint_peek(&second, folder_file(&folder, "toy_2.weights.state"), &err)
            || ddp_checkpoint_peek(&last, folder_file(&folder, "toy.backup.state"), &err),
        DDP_OK);
    assert_int_equal(second.is_header_alone, 0);
    assert_int_equal(last.is_header_alone, 0);
    must_save("toy_3.weights", 3);
    keep(2);
    assert_int_equal(
        ddp_checkpoint_peek(&second, folder_file(&folder, "toy_2.weights.state"), &err), DDP_OK);
    assert_int_equal(second.is_header_alone, 1);
}

static void what_is_no_numbered_pair_of_ours_stays(void **state)
{
    ddp_error err;

    (void)state;
    must_save("toy.backup", 1);
    must_save("toy_final.weights", 2);
    must_save("toy.weights", 3);
    must_save("toy2_1.weights", 3);
    folder_write(folder_file(&folder, "toy_7.weights"), "x", 1);
    folder_write(folder_file(&folder, "toy_8.weights"), "x", 1);
    folder_write(folder_file(&folder, "toy_8.weights.state"), "x", 1);
    assert_int_equal(toy_checkpoint_save(folder_file(&folder, "toy_5.weights"), "toy_5", 1, &err),
                     DDP_OK);
    must_save("toy_1.weights", 4);        /* it has waited */
    must_save("toy_20261126.weights", 4); /* a copy of a user's own */
    keep(0);
    expect_names("toy.backup toy.backup.state toy.weights toy.weights.state toy2_1.weights "
                 "toy2_1.weights.state toy_20261126.weights toy_20261126.weights.state "
                 "toy_5.weights toy_5.weights.state toy_7.weights "
                 "toy_8.weights toy_8.weights.state toy_final.weights toy_final.weights.state");
}

static void in_a_folder_that_is_gone_nothing_is_removed(void **state)
{
    char path[256];
    ddp_error err;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/gone", folder.path);
    assert_int_equal(ddp_pair_prune(path, "toy", 1, &err), DDP_OK);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(oldest_numbered_pairs_go),
        IN_A_FOLDER(states_of_all_but_the_newest_are_reduced),
        IN_A_FOLDER(what_is_no_numbered_pair_of_ours_stays),
        IN_A_FOLDER(in_a_folder_that_is_gone_nothing_is_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
