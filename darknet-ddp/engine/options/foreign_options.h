/* options/foreign_options.h: options of other programs, and what to type here. The words are in
 * options/foreign_options.def. */
#ifndef DDP_OPTIONS_FOREIGN_OPTIONS_H
#define DDP_OPTIONS_FOREIGN_OPTIONS_H

#include "base/status.h"

#include <stddef.h>

enum { DDP_FOREIGN_OPTION_TEXT = 256, DDP_FOREIGN_OPTIONS_MOST = 8 };

/* Words that were taken off a command line because they have no effect here, each with a sentence
 * that says why. `count` entries; words beyond DDP_FOREIGN_OPTIONS_MOST are not listed. */
typedef struct ddp_foreign_options_taken {
    struct {
        const char *word, *sentence;
    } all[DDP_FOREIGN_OPTIONS_MOST];
    int count;
} ddp_foreign_options_taken;

/* Write to text, which has DDP_FOREIGN_OPTION_TEXT bytes, what to type in place of a word, and
 * return text. The word, such as epochs=100, --imgsz or --gpus, names an option of another program,
 * or ours in another form. Returns NULL if it is unknown. */
const char *ddp_foreign_option_instead(const char *word, char *text);

/* Take words that have no effect in a train command, with their values, out of argv[1..argc). Add
 * them to *taken, which is all zero at first. The 1 behind -clear goes, too, without an entry.
 * Returns the new argc; NULL follows the words that are left. */
int ddp_foreign_options_take(int argc, char **argv, ddp_foreign_options_taken *taken);

/* Fail with DDP_ERR_USAGE if a word of argv[1..argc) of the form NAME=VALUE, without dashes, is one
 * for which ddp_foreign_option_instead has an answer, and no file. The text names the first such
 * word, and what to type. */
ddp_status ddp_foreign_options_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
