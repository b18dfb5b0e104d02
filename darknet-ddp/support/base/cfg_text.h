/* base/cfg_text.h: reads the text of a .cfg or .data file into sections and their options. Lines
 * are read by text/line.h, as Darknet reads them:
 *
 *  - A line that begins with [ is the title of a section. It keeps its brackets: "[net]".
 *  - A line that begins with # or ; is a comment. Blank lines are skipped, too.
 *  - Any other line is an option, KEY=VALUE, without its blanks. Without a = the value is "".
 *
 * A .data file is one section without a title. Its values may be paths, so blanks within them stay.
 * A byte-order mark at the start is skipped. */
#ifndef DDP_BASE_CFG_TEXT_H
#define DDP_BASE_CFG_TEXT_H

#include "base/status.h"

#include <stddef.h>

/* A line of a cfg: an option, or the title of a section. */
typedef struct ddp_cfg_line {
    const char *key;   /* the option's key, or the title */
    const char *value; /* the option's value; NULL: the line is a title */
    int number;        /* number of the line in the file, from 1 */
    int lacks_comma;   /* 1: only blanks stood between two numbers, which are one number now */
} ddp_cfg_line;

typedef struct ddp_cfg_text {
    char *text; /* memory that keys and values point into */
    ddp_cfg_line *lines;
    size_t count;
} ddp_cfg_text;

typedef struct ddp_cfg_section {
    const ddp_cfg_line *title; /* NULL: this section has the options before the first title */
    const ddp_cfg_line *options;
    size_t count;
} ddp_cfg_section;

/* Read text[0..bytes), a cfg, into *c, which keeps a copy of the text. Release *c, also after a
 * failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_read(ddp_cfg_text *c, const char *text, size_t bytes,
                             ddp_error *err) DDP_MUST_CHECK;
/* Read text[0..bytes), a .data file; all else is as in ddp_cfg_text_read. */
ddp_status ddp_cfg_text_read_data(ddp_cfg_text *c, const char *text, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_cfg_text_release(ddp_cfg_text *c); /* frees its memory; *c may be all zero */

/* Set the value of a key in the first section. If the key is missing, add it behind the section's
 * title, with the title's line number. key and value must outlive *c. Pointers to lines of *c are
 * invalid afterwards. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_set(ddp_cfg_text *c, const char *key, const char *value,
                            ddp_error *err) DDP_MUST_CHECK;

/* Set *s to the next section, which points into c, and return 1. Returns 0 if none is left. *at
 * must be 0 before the first call; each call advances it. */
int ddp_cfg_next_section(const ddp_cfg_text *c, size_t *at, ddp_cfg_section *s);

/* Return the first option with this key; NULL: there is none. */
const ddp_cfg_line *ddp_cfg_find(const ddp_cfg_section *s, const char *key);

/* Return the value of an option as a number, or `fallback` if line is NULL or the value is no
 * number (text/numbers.h). Darknet's parser reports such a value. */
double ddp_cfg_number(const ddp_cfg_line *line, double fallback);
/* Return the value of an option as an int, or `fallback` if line is NULL or the value is no int. */
int ddp_cfg_whole(const ddp_cfg_line *line, int fallback);

#endif
