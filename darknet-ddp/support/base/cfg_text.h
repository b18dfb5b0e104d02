/* base/cfg_text.h: a cfg as text: sections and their options, read as Darknet reads them.
 *
 * A line that begins with # or ; is a comment. An option is KEY=VALUE; blanks in it are dropped. A
 * title keeps its brackets: "[net]". A .data file is one section without a title; there blanks
 * within a value, which is a path, are kept. A byte-order mark at the start is skipped.
 */
#ifndef DDP_BASE_CFG_TEXT_H
#define DDP_BASE_CFG_TEXT_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_cfg_line {
    const char *key;
    const char *value; /* NULL: the line is a title */
    int number;        /* the line's number in the file, from 1 */
} ddp_cfg_line;

typedef struct ddp_cfg_text {
    char *text; /* memory that keys and values point into */
    ddp_cfg_line *lines;
    size_t count;
} ddp_cfg_text;

typedef struct ddp_cfg_section {
    const ddp_cfg_line *title; /* NULL: the options before the first title */
    const ddp_cfg_line *options;
    size_t count;
} ddp_cfg_section;

/* Return the length of the byte-order mark at the start of text[0..bytes): 3, or 0 for none. */
size_t ddp_byte_order_mark(const char *text, size_t bytes);

/* Read text[0..bytes): a cfg, or (_data) a .data file. *c keeps a copy of the text. Release *c,
 * also after a failure. Fail with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_read(ddp_cfg_text *c, const char *text, size_t bytes,
                             ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_cfg_text_read_data(ddp_cfg_text *c, const char *text, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_cfg_text_release(ddp_cfg_text *c); /* *c may be all zero */

/* Set a key of the first section. If it is missing, it is added behind the section's title, with
 * the title's line number. key and value must outlive *c. Pointers to lines are void afterwards.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_set(ddp_cfg_text *c, const char *key, const char *value,
                            ddp_error *err) DDP_MUST_CHECK;

/* Put the section that starts at c->lines[*at] into *s, and the start of the next one into *at,
 * which begins as 0. Returns 0 if none is left. */
int ddp_cfg_next_section(const ddp_cfg_text *c, size_t *at, ddp_cfg_section *s);

/* Return the first option of that name, or NULL. */
const ddp_cfg_line *ddp_cfg_find(const ddp_cfg_section *s, const char *key);

#endif
