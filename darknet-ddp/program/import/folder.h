/* import/folder.h: the files of a folder and of those in it, and pictures that a source names. */
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
 * between them, ".jpg .png". A file is listed if its name ends in one, without regard to case.
 * Names that begin with a dot are left out. The caller releases *f, in any case. Fails with
 * DDP_ERR_IO if the folder itself cannot be read, and with DDP_ERR_NOMEM. */
ddp_status ddp_folder_list(ddp_folder *f, const char *folder, const char *endings,
                           ddp_error *err) DDP_MUST_CHECK;
void ddp_folder_release(ddp_folder *f);

/* Endings of the pictures that Darknet loads. */
extern const char ddp_folder_pictures[];

/* Return the path FOLDER/NAME, which the caller frees; NULL: no memory. If name is a path from the
 * root, that is returned. */
char *ddp_folder_join(const char *folder, const char *name);

/* Return the folder of a file, which the caller frees: "." for a bare name. NULL: no memory. */
char *ddp_folder_of(const char *path);

/* Return the last component of a path: a pointer into it. Backslashes separate components, too. */
const char *ddp_folder_last(const char *path);

/* Return the first path FOLDERS[i]/NAME that is a file, and else the first of FOLDERS[i]/last
 * component of NAME. NULL: there is none, or no memory. The caller frees it. A NULL ends folders.
 */
char *ddp_folder_find(const char *const *folders, const char *name);

/* Return the side that a path's last two components say: train, val, valid, test. */
ddp_side ddp_folder_side(const char *path);

#endif
