/* check/lists.h: lists of pictures and of names, a line each. */
#ifndef DDP_CHECK_LISTS_H
#define DDP_CHECK_LISTS_H

#include "check/faults.h"

/* Some lines of a file. */
typedef struct ddp_list_lines {
    const char *file;
    char *const *all;
    const size_t *numbers; /* of each in the file, from 1 */
    size_t count;
} ddp_list_lines;

/* Lines that stand in a list more than once: a warning for each, at its second place. */
void ddp_check_duplicates(ddp_faults *f, const ddp_list_lines *list);

/* Pictures to validate on that are trained on: one warning, at the first of them. Paths are one
 * picture's where they lead to one name in one folder. */
void ddp_check_overlap(ddp_faults *f, const ddp_list_lines *valid, const ddp_list_lines *train);

int ddp_ends_with_blank(const char *line);

/* What a path that leads nowhere has that others lack: " (the name ends with a blank)", say; empty:
 * nothing. */
const char *ddp_path_oddity(const char *path);

/* The number in a file of its line i, from 0, where blank lines do not count. i + 1: it cannot be
 * read. */
size_t ddp_list_number(const char *file, size_t i);

#endif
