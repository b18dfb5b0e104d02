/* saves/saved_files.h: the weights files that a run has saved, in the order of their last save. */
#ifndef DDP_SAVES_SAVED_FILES_H
#define DDP_SAVES_SAVED_FILES_H

#include <stddef.h>

/* All zero: none yet. */
typedef struct ddp_saved_files {
    char **paths;
    size_t count;
} ddp_saved_files;

/* It was saved; it may be known from before. Without memory it is not noted. */
void ddp_saved_files_add(ddp_saved_files *files, const char *path);

int ddp_saved_files_has(const ddp_saved_files *files, const char *path);

/* NULL: none. */
const char *ddp_saved_files_last(const ddp_saved_files *files);

void ddp_saved_files_release(ddp_saved_files *files);

#endif
