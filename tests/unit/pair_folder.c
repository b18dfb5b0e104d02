#include "pair_folder.h"

#include "toy_checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

struct folder pair_folder;
static char notes[2048];

static void take_note(void *ctx, const char *sentence)
{
    char *at;

    (void)ctx;
    (void)snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
    while ((at = strstr(notes, pair_folder.path)) != NULL)
        memmove(at, at + strlen(pair_folder.path) + 1, strlen(at + strlen(pair_folder.path)));
}

const ddp_pair_listener pair_listener = {take_note, NULL};

int pair_folder_open(void **state)
{
    (void)state;
    notes[0] = 0;
    folder_open(&pair_folder);
    return 0;
}

int pair_folder_close(void **state)
{
    (void)state;
    folder_close(&pair_folder);
    return 0;
}

int pair_save(const char *name, int number)
{
    ddp_error err = {0};
    ddp_status st = toy_checkpoint_save(folder_file(&pair_folder, name), "toy", number, &err);

    if (st && (st != DDP_ERR_IO || !strstr(err.text, "No space left on device")))
        fail_msg("%s failed with %d: %s", name, st, err.text);
    return st == DDP_OK;
}

int pair_find(const char *want_name)
{
    ddp_error err = {0};
    ddp_pair pair;
    int number = 0;

    if (ddp_pair_find(&pair, pair_folder.path, "toy", &pair_listener, &err))
        fail_msg("%s", err.text);
    if (pair.there == DDP_THERE_WHOLE) {
        number = (int)pair.checkpoint.metadata.step;
        toy_checkpoint_expect(&pair.checkpoint, "toy", number);
        toy_checkpoint_expect_weights(pair.weights, number);
        if (want_name)
            assert_string_equal(pair.weights, folder_file(&pair_folder, want_name));
    }
    ddp_pair_release(&pair);
    return number;
}

void pair_expect_notes(const char *want)
{
    assert_string_equal(notes, want);
    notes[0] = 0;
}

void pair_forget_notes(void)
{
    notes[0] = 0;
}

void pair_expect_names(const char *want)
{
    char names[512];

    folder_list(&pair_folder, names, sizeof names);
    assert_string_equal(names, want);
}
