/* import/folder.h: lists the files of a folder, and finds the pictures that a source names. */
#ifndef DDP_IMPORT_FOLDER_H
#define DDP_IMPORT_FOLDER_H

#include "base/status.h"
#include "import/annotations.h"

#include <stddef.h>

/* Paths, sorted by their bytes. All zero is an empty list. */
typedef struct ddp_folder {
    char **paths;
    size_t count;
} ddp_folder;

/* List the files in a folder, and in those within it to a depth of 8. endings: words with blanks
 * between them, ".jpg .png". A file is listed if its name ends in one, without regard to case. Left
 * out are names that begin with a dot, and folders within `folder` that cannot be read. Paths begin
 * with `folder`. The caller releases *f, in any case. Fails with DDP_ERR_IO if `folder` itself
 * cannot be read, and with DDP_ERR_NOMEM. */
ddp_status ddp_folder_list(ddp_folder *f, const char *folder, const char *endings,
                           ddp_error *err) DDP_MUST_CHECK;
/* Free the paths, and make *f all zero. */
void ddp_folder_release(ddp_folder *f);

/* Endings of the pictures that Darknet loads, for ddp_folder_list. */
extern const char ddp_folder_pictures[];

/* Return the path FOLDER/NAME, which the caller frees; NULL: no memory. If name is a path from the
 * root, a copy of it is returned. */
char *ddp_folder_join(const char *folder, const char *name);

/* Return the last component of a path: a pointer into it. Backslashes separate components, too. */
const char *ddp_folder_last(const char *path);

/* Return the first path FOLDER/NAME that is a file, with each of the folders in turn. If there is
 * none, search again with the last component of name alone. NULL: none was found, or no memory. The
 * caller frees the result. A NULL ends folders. */
char *ddp_folder_find(const char *const *folders, const char *name);

/* Return the side whose word a path's last two components contain: "train", else "val", else
 * "test". DDP_SIDE_UNKNOWN: they contain none. */
ddp_side ddp_folder_side(const char *path);

#endif
