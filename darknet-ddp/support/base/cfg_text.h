/* base/cfg_text.h: a cfg as text: sections and their options. Lines are read by text/line.h, as
 * Darknet reads them.
 *
 * A line that begins with # or ; is a comment. An option is KEY=VALUE; blanks in it are dropped.
 * Any other line is an option with the value "". A title keeps its brackets: "[net]". A .data file
 * is one section without a title; there blanks within a value, which is a path, are kept. A
 * byte-order mark at the start is skipped. */
#ifndef DDP_BASE_CFG_TEXT_H
#define DDP_BASE_CFG_TEXT_H

#include "base/status.h"

#include <stddef.h>

/* A line of a cfg: an option, or the title of a section. */
typedef struct ddp_cfg_line {
    const char *key;
    const char *value; /* value of an option; NULL: the line is a title, and key its name */
    int number;        /* the line's number in the file, from 1 */
    int lacks_comma;   /* 1: a blank stood between two numbers of the value, which are one now */
} ddp_cfg_line;

typedef struct ddp_cfg_text {
    char *text; /* memory that keys and values point into */
    ddp_cfg_line *lines;
    size_t count;
} ddp_cfg_text;

typedef struct ddp_cfg_section {
    const ddp_cfg_line
        *title; /* the section's title; NULL: it is the options before the first title */
    const ddp_cfg_line *options;
    size_t count;
} ddp_cfg_section;

/* Read text[0..bytes), a cfg, into *c, which keeps a copy of the text. Release *c, also after a
 * failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_read(ddp_cfg_text *c, const char *text, size_t bytes,
                             ddp_error *err) DDP_MUST_CHECK;
/* Read text[0..bytes), a .data file, as ddp_cfg_text_read reads a cfg. */
ddp_status ddp_cfg_text_read_data(ddp_cfg_text *c, const char *text, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_cfg_text_release(ddp_cfg_text *c); /* frees its memory; *c may be all zero */

/* Set a key of the first section to a value. If the key is missing, add it behind the section's
 * title, with the title's line number. key and value must outlive *c. Pointers to lines of *c are
 * invalid afterwards. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_set(ddp_cfg_text *c, const char *key, const char *value,
                            ddp_error *err) DDP_MUST_CHECK;

/* Set *s to the next section, and return 1. *s points into c. *at: 0 for the first section; each
 * call advances it to the next one. Returns 0 if none is left. */
int ddp_cfg_next_section(const ddp_cfg_text *c, size_t *at, ddp_cfg_section *s);

/* Return the first option with this key; NULL: there is none. */
const ddp_cfg_line *ddp_cfg_find(const ddp_cfg_section *s, const char *key);

/* Return the number of an option (text/numbers.h), or `fallback` if line is NULL or its value is no
 * number. ddp_cfg_whole takes only whole numbers of an int's range. Darknet's parser reports
 * others. */
double ddp_cfg_number(const ddp_cfg_line *line, double fallback);
int ddp_cfg_whole(const ddp_cfg_line *line, int fallback);

#endif
