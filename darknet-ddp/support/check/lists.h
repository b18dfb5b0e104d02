/* check/lists.h: checks of lists of pictures and of names, a line each. */
#ifndef DDP_CHECK_LISTS_H
#define DDP_CHECK_LISTS_H

#include "check/faults.h"

/* Some lines of a file. */
typedef struct ddp_list_lines {
    const char *file;
    char *const *all;
    const size_t *numbers; /* number of each line in the file, from 1 */
    size_t count;
} ddp_list_lines;

/* Add a warning for each line that a list has had before. */
void ddp_check_duplicates(ddp_faults *f, const ddp_list_lines *list);

int ddp_ends_with_blank(const char *line);

/* Return what may be wrong with a path that leads nowhere, " (the name ends with a blank)" say, or
 * "". */
const char *ddp_path_oddity(const char *path);

/* Return the number in a file of its line i, counted from 0 without blank lines; i + 1 if the file
 * cannot be read. */
size_t ddp_list_number(const char *file, size_t i);

#endif
