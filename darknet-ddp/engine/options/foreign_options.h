/* options/foreign_options.h: options that people know from other programs (AlexeyAB's Darknet,
 * Ultralytics, torchrun), and what to type here in their place. options/foreign_options.def lists
 * them. */
#ifndef DDP_OPTIONS_FOREIGN_OPTIONS_H
#define DDP_OPTIONS_FOREIGN_OPTIONS_H

#include "base/status.h"

#include <stddef.h>

enum {
    DDP_FOREIGN_OPTION_TEXT = 256, /* bytes of a text that says what to type */
    DDP_FOREIGN_OPTIONS_MOST = 8   /* most removed words that are kept to be named */
};

/* Words that were removed from a command line since they have no effect here. */
typedef struct ddp_foreign_options_taken {
    struct {
        const char *word;     /* the removed word */
        const char *sentence; /* why the word has no effect */
    } all[DDP_FOREIGN_OPTIONS_MOST];
    int count;
} ddp_foreign_options_taken;

/* Write to text what to type in place of `word`, and return text. `word` is an option of another
 * program, such as epochs=100, or one of ours written wrongly, such as --gpus. If it is neither, or
 * an option of `darknet ddp` alone, return NULL. */
const char *ddp_foreign_option_instead(const char *word, char text[DDP_FOREIGN_OPTION_TEXT]);

/* Remove options that have no effect here, with their values, from argv[1..argc) of a train
 * command. Add them to *taken, which is all zero at first; more than fit are left out. Also remove
 * a 1 after -clear. Returns the new argc; NULL follows the words that are left. */
int ddp_foreign_options_take(int argc, char **argv, ddp_foreign_options_taken *taken);

/* Fail with DDP_ERR_USAGE if argv[1..argc) has a word NAME=VALUE that is a foreign option
 * (ddp_foreign_option_instead) and no file. Words that begin with a dash do not count. The text
 * names the first such word, and what to type. */
ddp_status ddp_foreign_options_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
