/* base/cfg_text.h: a cfg as text: sections and their options, read as Darknet reads them.
 *
 * Blanks count nowhere, lines that begin with # or ; are comments, an option is KEY=VALUE. A title
 * keeps its brackets: "[net]". A .data file is one section without a title; there blanks within a
 * value, a path, count. A byte-order mark at the start is skipped.
 */
#ifndef DDP_BASE_CFG_TEXT_H
#define DDP_BASE_CFG_TEXT_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_cfg_line {
    const char *key;
    const char *value; /* NULL: a title */
    int number;        /* from 1 */
} ddp_cfg_line;

typedef struct ddp_cfg_text {
    char *text; /* keys and values point into it */
    ddp_cfg_line *lines;
    size_t count;
} ddp_cfg_text;

typedef struct ddp_cfg_section {
    const ddp_cfg_line *title; /* NULL: what stands before the first title */
    const ddp_cfg_line *options;
    size_t count;
} ddp_cfg_section;

/* Bytes of the byte-order mark that text[0..bytes) begins with: 3 or 0. */
size_t ddp_byte_order_mark(const char *text, size_t bytes);

/* Read text[0..bytes), a cfg or a .data file. Release *c in any case. Fail with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_read(ddp_cfg_text *c, const char *text, size_t bytes,
                             ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_cfg_text_read_data(ddp_cfg_text *c, const char *text, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_cfg_text_release(ddp_cfg_text *c); /* all zero is allowed */

/* Give the first section's key this value; both must outlive *c. One that is not there is added
 * behind the section's title, with its line. Pointers to lines are void after that. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_cfg_text_set(ddp_cfg_text *c, const char *key, const char *value,
                            ddp_error *err) DDP_MUST_CHECK;

/* The section that starts at line *at, which then is the next one's start. 0: none is left. */
int ddp_cfg_next_section(const ddp_cfg_text *c, size_t *at, ddp_cfg_section *s);

/* The first option of that name, or NULL. */
const ddp_cfg_line *ddp_cfg_find(const ddp_cfg_section *s, const char *key);

#endif
