/* ddp-test: quick */
/* A pair that holds a number that is not finite is passed over, and refused where it is the last.
 */
#include "checkpoint/find.h"
#include "checkpoint/pair.h"
#include "folder.h"
#include "toy_checkpoint.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;
static char notes[2048];

static int open_folder(void **state)
{
    (void)state;
    notes[0] = '\0';
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

static void take_note(void *ctx, const char *sentence)
{
    (void)ctx;
    (void)snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
}

/* Weights files as Darknet writes them: version 0.2 and the images seen, or version 0.1. */
struct weights {
    int32_t minor;
    float values[3];
};

static void write_weights(void *ctx, FILE *fp)
{
    const struct weights *w = ctx;
    const int32_t version[3] = {0, w->minor, 0};

    (void)fwrite(version, sizeof version, 1, fp);
    /* Not to be taken for a float: 0x7fffffff would be NaN. */
    (void)fwrite("\xff\xff\xff\x7f\xff\xff\xff\x7f", w->minor >= 2 ? 8 : 4, 1, fp);
    (void)fwrite(w->values, sizeof w->values, 1, fp);
}

static void save_pair(const char *name, int number, float weight, float momentum, int minor)
{
    struct weights weights = {minor, {1, 2, weight}};
    const ddp_weights_writer writer = {write_weights, &weights};
    struct toy_checkpoint t;
    ddp_error err;

    toy_checkpoint_make(&t, "toy", number);
    t.data[2][1] = momentum;
    if (ddp_pair_save(folder_file(&folder, name), &t.checkpoint, &writer, &err))
        fail_msg("%s", err.text);
}

/* The step of the pair that is found; 0: none; -1: refused. */
static int find(ddp_error *err)
{
    const ddp_pair_listener listener = {take_note, NULL};
    ddp_pair pair;
    int found;

    assert_int_equal(ddp_pair_find(&pair, folder.path, "toy", &listener, err), DDP_OK);
    *err = pair.why;
    found = pair.there == DDP_THERE_WHOLE        ? (int)pair.checkpoint.metadata.step
            : pair.there == DDP_THERE_NOT_FINITE ? -1
                                                 : 0;
    ddp_pair_release(&pair);
    return found;
}

static void expect_note(const char *text)
{
    if (!strstr(notes, text))
        fail_msg("'%s' is not in '%s'", text, notes);
}

static void the_last_good_pair_is_taken(void **state)
{
    ddp_error err;

    (void)state;
    save_pair("toy_100.weights", 1, 3, 4, 2);
    save_pair("toy_200.weights", 2, NAN, 4, 2);
    save_pair("toy.backup", 3, 3, INFINITY, 2);
    assert_int_equal(find(&err), 1);
    expect_note("toy_200.weights has a number that is not finite\n");
    expect_note("toy.backup.state: momentum of layer 4's input weights has a number that is not "
                "finite\n");
}

static void the_header_is_no_number(void **state)
{
    ddp_error err;

    (void)state;
    save_pair("toy_100.weights", 1, 3, 4, 2);
    assert_int_equal(find(&err), 1);
    save_pair("toy_200.weights", 2, 3, 4, 1);
    assert_int_equal(find(&err), 2);
    assert_string_equal(notes, "");
}

static void without_a_good_one_it_is_refused(void **state)
{
    ddp_error err;

    (void)state;
    assert_int_equal(find(&err), 0);
    save_pair("toy.backup", 3, -INFINITY, 4, 2);
    assert_int_equal(find(&err), -1);
    if (!strstr(err.text, "no checkpoint is left to resume from: ")
        || !strstr(err.text, "toy.backup has a number that is not finite"))
        fail_msg("%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_good_pair_is_taken, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(the_header_is_no_number, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(without_a_good_one_it_is_refused, open_folder,
                                        close_folder),
    };

    return cmocka_run_group_tests_name("checkpoint finite", tests, NULL, NULL);
}
