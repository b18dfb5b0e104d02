/* inputs/label_files.h: finds out whether a detector's pictures have label files. The label file
 * of a picture without objects is empty. */
#ifndef DDP_INPUTS_LABEL_FILES_H
#define DDP_INPUTS_LABEL_FILES_H

#include "base/status.h"

#include <stddef.h>

/* Check that the n pictures in paths have label files. Fails with DDP_ERR_FORMAT if none has one.
 * With `required` 1 it fails if any has none. n may be 0, which passes.
 *   all_empty  becomes 1 if there are label files and all are empty, else 0 */
ddp_status ddp_label_files_find(char *const *paths, size_t n, int required, int *all_empty,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the picture has a label file. */
int ddp_label_files_has(const char *picture);

/* Set *err to the error that no picture of a list has a label file, and return DDP_ERR_FORMAT.
 * picture: the first of the list, whose label file the error names. */
ddp_status ddp_label_files_none(const char *picture, ddp_error *err);

#endif
