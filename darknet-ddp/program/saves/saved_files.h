/* saves/saved_files.h: the weights files that a run has saved, in the order of their last save. */
#ifndef DDP_SAVES_SAVED_FILES_H
#define DDP_SAVES_SAVED_FILES_H

#include <stddef.h>

/* A list of paths. All zero is an empty one. */
typedef struct ddp_saved_files {
    char **paths;
    size_t count;
} ddp_saved_files;

/* Add a copy of path to the end of the list, or move it there if the list has it. Does nothing
 * without memory. */
void ddp_saved_files_add(ddp_saved_files *files, const char *path);

/* Return 1 if path is in the list. */
int ddp_saved_files_has(const ddp_saved_files *files, const char *path);

/* Return the path that was added last; NULL: none. Valid until the list is released. */
const char *ddp_saved_files_last(const ddp_saved_files *files);

/* Free the list; it is empty then. */
void ddp_saved_files_release(ddp_saved_files *files);

#endif
