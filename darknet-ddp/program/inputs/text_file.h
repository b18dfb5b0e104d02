/* inputs/text_file.h: reads small text files whole: as lines, or as sections of options. */
#ifndef DDP_INPUTS_TEXT_FILE_H
#define DDP_INPUTS_TEXT_FILE_H

#include "base/cfg_text.h"
#include "base/status.h"
#include "glue/darknet.h"

/* A text file as lines; blank ones are left out. All zero is an empty one. */
typedef struct ddp_lines {
    void *text;
    char **all;      /* the lines, pointers into text */
    size_t *numbers; /* for each line in `all`: its number in the file, from 1 */
    size_t count;
    int has_mark; /* 1: the file begins with a byte-order mark, which is skipped */
} ddp_lines;

/* A text file as sections of options. All zero is an empty one. */
typedef struct ddp_sections {
    void *text;
    ddp_cfg_text cfg;
    int has_mark; /* 1: the file begins with a byte-order mark, which is skipped */
} ddp_sections;

/* Read the file at path: as lines; as names of classes, one a line; as a cfg; as a .data file. In a
 * file of names blank lines count, as in Darknet, but for the last ones. Release *l or *s in any
 * case. Fail with DDP_ERR_IO, DDP_ERR_NOMEM, and with DDP_ERR_FORMAT if a byte is 0. */
ddp_status ddp_lines_read(ddp_lines *l, const char *path, ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_names_read(ddp_lines *l, const char *path, ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_sections_read(ddp_sections *s, const char *path, ddp_error *err) DDP_MUST_CHECK;
ddp_status ddp_data_read(ddp_sections *s, const char *path, ddp_error *err) DDP_MUST_CHECK;
/* Free what *l or *s holds, and make it all zero. */
void ddp_lines_release(ddp_lines *l);
void ddp_sections_release(ddp_sections *s);

/* Set keys of the first section to values, which must outlive *s (see ddp_cfg_text_set). A NULL key
 * ends them. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_sections_override(ddp_sections *s, const ddp_net_value *values,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Return the value, or the line, of the first option with this key in any section; NULL if there is
 * none. Both belong to s. ddp_sections_whole returns its whole number, as ddp_cfg_whole does. */
const char *ddp_sections_find(const ddp_sections *s, const char *key);
const ddp_cfg_line *ddp_sections_line(const ddp_sections *s, const char *key);
int ddp_sections_whole(const ddp_sections *s, const char *key, int fallback);

#endif
