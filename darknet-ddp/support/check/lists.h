/* check/lists.h: checks lists of pictures, and of names of classes. */
#ifndef DDP_CHECK_LISTS_H
#define DDP_CHECK_LISTS_H

#include "check/faults.h"

/* Lines of a list file, all or some of them. Whoever fills the struct owns what its members point
 * to. */
typedef struct ddp_list_lines {
    const char *file;      /* path of the list file */
    char *const *all;      /* the lines */
    const size_t *numbers; /* numbers[i]: number of line all[i] in the file, from 1 */
    size_t count;
} ddp_list_lines;

/* Add a warning to *f for each line that repeats an earlier one. No memory: f->lost is set. */
void ddp_check_duplicates(ddp_faults *f, const ddp_list_lines *list);

/* Return 1 if a line ends with a blank or a tab. */
int ddp_ends_with_blank(const char *line);

/* Return what is odd about a path that leads to no file, such as " (the name ends with a blank)";
 * "" if nothing is. Static text. */
const char *ddp_path_oddity(const char *path);

/* Find line i, from 0, of a file's lines that are not blank. Return its number among all lines of
 * the file, from 1; i + 1 if the file cannot be read, is a pipe, or has fewer lines. */
size_t ddp_list_line_number(const char *file, size_t i);

#endif
