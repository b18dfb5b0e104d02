/* import/folder.h: lists the files of a folder, and finds the pictures that annotations name. */
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

/* List the files in a folder, and in folders within it to a depth of 8, sorted by their paths,
 * which begin with `folder`. Leaves out names that begin with a dot, and inner folders that cannot
 * be read. Release *f in any case. Fails with DDP_ERR_IO (`folder` cannot be read), DDP_ERR_NOMEM.
 *   endings  endings of the names to list, as ".jpg .png"; upper and lower case are alike */
ddp_status ddp_folder_list(ddp_folder *f, const char *folder, const char *endings,
                           ddp_error *err) DDP_MUST_CHECK;
/* Free the paths, and make *f all zero. */
void ddp_folder_release(ddp_folder *f);

/* Endings of the pictures that Darknet loads, for ddp_folder_list. */
extern const char ddp_folder_pictures[];

/* Return the path FOLDER/NAME, or a copy of name if it begins with "/". The caller frees it. NULL:
 * no memory. */
char *ddp_folder_join(const char *folder, const char *name);

/* Return the last component of a path: a pointer into it. Backslashes separate components, too. */
const char *ddp_folder_last(const char *path);

/* Search the folders, whose list a NULL ends, for the file `name`, then for the last component of
 * name alone. Returns the first path that is found, which the caller frees. NULL: none, or no
 * memory. */
char *ddp_folder_find(const char *const *folders, const char *name);

/* Return the side of an annotation file's pictures, by the last two components of its path. TRAIN
 * if they contain "train", else VALID if "val", else TEST if "test", else UNKNOWN. */
ddp_side ddp_folder_side(const char *path);

#endif
