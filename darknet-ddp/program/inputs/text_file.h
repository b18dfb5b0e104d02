/* inputs/text_file.h: reads lists, files of names, cfgs and .data files into memory. If there is no
 * file at a path that begins with cfg/ or data/, the installed one is read. A function that reads
 * wants a struct that is all zero; release it also after a failure. It fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM, and with DDP_ERR_FORMAT if a byte of the file is 0. */
#ifndef DDP_INPUTS_TEXT_FILE_H
#define DDP_INPUTS_TEXT_FILE_H

#include "base/cfg_text.h"
#include "base/status.h"
#include "glue/darknet.h"

/* A text file as lines. All zero is an empty one. */
typedef struct ddp_lines {
    void *text;
    char **all;      /* the lines, pointers into text */
    size_t *numbers; /* number of each line in the file, from 1 */
    size_t count;
    int has_mark; /* 1: the file begins with a byte-order mark, which is skipped */
} ddp_lines;

/* A text file as sections of options. All zero is an empty one. */
typedef struct ddp_sections {
    void *text;
    ddp_cfg_text cfg;
    int has_mark; /* 1: the file begins with a byte-order mark, which is skipped */
} ddp_sections;

/* Read the lines of the file at path, but for blank ones. */
ddp_status ddp_lines_read(ddp_lines *l, const char *path, ddp_error *err) DDP_MUST_CHECK;
/* Read a file of names of classes, one a line. Blank lines count as names, as in Darknet, but not
 * at the end. */
ddp_status ddp_names_read(ddp_lines *l, const char *path, ddp_error *err) DDP_MUST_CHECK;
/* Read the cfg at path. */
ddp_status ddp_sections_read(ddp_sections *s, const char *path, ddp_error *err) DDP_MUST_CHECK;
/* Read the .data file at path. */
ddp_status ddp_data_read(ddp_sections *s, const char *path, ddp_error *err) DDP_MUST_CHECK;
/* Free what *l or *s holds, and make it all zero. */
void ddp_lines_release(ddp_lines *l);
void ddp_sections_release(ddp_sections *s);

/* Set keys of the first section to values[], which must outlive *s and ends with a NULL key. A key
 * that the section lacks is added; lines that were returned before are then no longer valid. Fails
 * with DDP_ERR_NOMEM, with some of the values set. */
ddp_status ddp_sections_override(ddp_sections *s, const ddp_net_value *values,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Return the value of the first option with this key, in any section, owned by s; NULL: none. */
const char *ddp_sections_find(const ddp_sections *s, const char *key);
/* Return the line of the first option with this key, in any section, owned by s; NULL: none. */
const ddp_cfg_line *ddp_sections_line(const ddp_sections *s, const char *key);
/* Return the value of the first option with this key as a whole number; `fallback` if there is
 * none, or it is no whole number. */
int ddp_sections_whole(const ddp_sections *s, const char *key, int fallback);

#endif
