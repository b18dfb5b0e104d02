/* ddp-test: quick */
/* Files of an earlier run are set aside, and come back. */
#include "checkpoint/set_aside.h"
#include "folder.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

static void make(const char *name)
{
    folder_write(folder_file(&folder, name), name, strlen(name));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    return at->level > 0 ? remove(path) : 0;
}

static int has(const char *name)
{
    size_t size;
    char *text;
    int same;

    if (access(folder_file(&folder, name), F_OK) != 0)
        return 0;
    text = folder_read(folder_file(&folder, name), &size);
    same = size > 0;
    free(text);
    return same;
}

static char *set_aside(const char *spare)
{
    char *path;
    ddp_error err;

    assert_int_equal(ddp_set_aside(&path, folder.path, "toy", spare, &err), DDP_OK);
    return path;
}

static void files_of_the_run_and_no_others_are_set_aside(void **state)
{
    static const char *const ours[] = {"toy.backup",        "toy.backup.state",
                                       "toy_final.weights", "toy_last.weights",
                                       "toy.csv",           "toy.log",
                                       "toy.log.old",       "toy.events",
                                       "toy.events.1",      "toy_best.weights.state.part"};
    static const char *const others[] = {"toy.lock", "toy2.backup", "toy_x.weights", "toy.cfg",
                                         "other"};
    char *path, text[128];

    (void)state;
    assert_null(set_aside(NULL));
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        make(ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        make(others[i]);
    path = set_aside(NULL);
    assert_string_equal(path, folder_file(&folder, "toy.1"));
    free(path);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        (void)snprintf(text, sizeof text, "toy.1/%s", ours[i]);
        assert_true(has(text));
        assert_false(has(ours[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(has(others[i]));
}

static void a_log_alone_is_no_result(void **state)
{
    (void)state;
    make("toy.log");
    assert_null(set_aside(NULL));
    assert_true(has("toy.log"));
}

static void the_last_of_them_comes_back(void **state)
{
    ddp_error err;
    char *path;
    int came;

    (void)state;
    assert_null(ddp_set_aside_last(folder.path, "toy", "toy.backup"));
    for (int i = 1; i <= 11; i++) { /* 11 is behind 9 */
        make("toy.backup");
        path = set_aside(NULL);
        assert_non_null(path);
        free(path);
    }
    make("toy.csv");
    path = ddp_set_aside_last(folder.path, "toy", "toy.backup");
    assert_string_equal(path, folder_file(&folder, "toy.11"));
    assert_int_equal(ddp_set_aside_undo(&came, path, folder.path, "toy", &err), DDP_OK);
    assert_true(came);
    free(path);
    assert_true(has("toy.backup"));
    assert_false(has("toy.csv"));
    assert_true(has("toy.12/toy.csv"));
    assert_int_equal(access(folder_file(&folder, "toy.11"), F_OK), -1);
    /* Somebody else's folder: it is not counted down to. */
    assert_int_equal(mkdir(folder_file(&folder, "toy.999999999"), 0777), 0);
    path = ddp_set_aside_last(folder.path, "toy", "toy.csv");
    assert_string_equal(path, folder_file(&folder, "toy.12"));
    free(path);
}

/* The files that a process had moved to toy.1 when it died: so many of these. */
static const char *const pair[] = {"toy.backup", "toy.backup.state", "toy.csv"};
enum { OF_PAIR = sizeof pair / sizeof pair[0] };

static void make_cut_off(size_t moved)
{
    char text[128];

    assert_int_equal(mkdir(folder_file(&folder, "toy.1.moving"), 0777), 0);
    for (size_t i = 0; i < OF_PAIR; i++) {
        (void)snprintf(text, sizeof text, "%s%s", i < moved ? "toy.1.moving/" : "", pair[i]);
        make(text);
    }
}

static int recover(void)
{
    ddp_error err;
    int came;

    assert_int_equal(ddp_set_aside_recover(&came, folder.path, "toy", &err), DDP_OK);
    return came;
}

static void a_move_that_was_cut_off_is_undone(void **state)
{
    char *path;

    (void)state;
    assert_false(recover());
    for (size_t moved = 0; moved <= OF_PAIR; moved++) {
        make_cut_off(moved);
        assert_int_equal(recover(), moved > 0);
        assert_false(recover());
        for (size_t i = 0; i < OF_PAIR; i++)
            assert_true(has(pair[i]));
        assert_int_equal(access(folder_file(&folder, "toy.1.moving"), F_OK), -1);
        path = set_aside(NULL);
        assert_string_equal(path, folder_file(&folder, "toy.1"));
        assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
        assert_int_equal(rmdir(path), 0);
        free(path);
    }
}

/* Weights that a run began with were in both places. */
static void of_second_names_one_is_left(void **state)
{
    (void)state;
    make_cut_off(0);
    assert_int_equal(
        link(folder_file(&folder, "toy.backup"), folder_file(&folder, "toy.1.moving/toy.backup")),
        0);
    assert_true(recover());
    assert_true(has("toy.backup"));
    assert_int_equal(access(folder_file(&folder, "toy.1.moving"), F_OK), -1);
}

static void other_files_of_a_folder_stay_in_it(void **state)
{
    (void)state;
    make_cut_off(1);
    make("toy.1.moving/remark");
    assert_true(recover());
    assert_true(has("toy.backup"));
    assert_true(has("toy.1/remark"));
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    ddp_error err;
    char *path;

    (void)state;
    assert_int_equal(ddp_set_aside(&path, "/nowhere/at/all", "toy", NULL, &err), DDP_ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_null(path);
}

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

/* With the folders of files that were set aside. */
static int close_folder(void **state)
{
    (void)state;
    assert_int_equal(nftw(folder.path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    folder_close(&folder);
    return 0;
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(files_of_the_run_and_no_others_are_set_aside),
        IN_A_FOLDER(a_log_alone_is_no_result),
        IN_A_FOLDER(the_last_of_them_comes_back),
        IN_A_FOLDER(a_move_that_was_cut_off_is_undone),
        IN_A_FOLDER(of_second_names_one_is_left),
        IN_A_FOLDER(other_files_of_a_folder_stay_in_it),
        IN_A_FOLDER(a_folder_that_cannot_be_written_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
