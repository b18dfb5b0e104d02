/* options/foreign_options.h: options of other programs, and what to type here. The words are in
 * options/foreign_options.def. */
#ifndef DDP_OPTIONS_FOREIGN_OPTIONS_H
#define DDP_OPTIONS_FOREIGN_OPTIONS_H

#include "base/status.h"

#include <stddef.h>

enum { DDP_FOREIGN_OPTION_TEXT = 256, DDP_FOREIGN_OPTIONS_MOST = 8 };

/* Words that a line had and needs not, each with a sentence that says why. */
typedef struct ddp_foreign_options_taken {
    struct {
        const char *word, *sentence;
    } all[DDP_FOREIGN_OPTIONS_MOST];
    int count;
} ddp_foreign_options_taken;

/* What to type in place of a word, which may have two dashes, or a value after a =. Returns text,
 * which has DDP_FOREIGN_OPTION_TEXT bytes, or NULL: the word is unknown. */
const char *ddp_foreign_option_instead(const char *word, char *text);

/* Take what a train command needs not, with its values, out of argv[1..argc); taken: what that was.
 * Returns how many words are left; NULL follows them. */
int ddp_foreign_options_take(int argc, char **argv, ddp_foreign_options_taken *taken);

/* Words such as epochs=100, which would be taken for files. DDP_ERR_USAGE names the first and what
 * to type. */
ddp_status ddp_foreign_options_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
