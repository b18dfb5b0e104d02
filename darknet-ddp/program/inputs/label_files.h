/* inputs/label_files.h: which pictures of a detector's list have label files. A label file of a
 * picture without objects is empty. */
#ifndef DDP_INPUTS_LABEL_FILES_H
#define DDP_INPUTS_LABEL_FILES_H

#include "base/status.h"

#include <stddef.h>

/* Look through the n pictures in paths until one has a label file that is not empty. *empty becomes
 * 1 if there are label files, and all are empty; else 0. Fails with DDP_ERR_FORMAT if no picture of
 * a list has a label file, or if `required` is 1 and one picture has none. An empty list passes. */
ddp_status ddp_label_files_find(char *const *paths, size_t n, int required, int *empty,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the picture has a label file. */
int ddp_label_files_has(const char *picture);

/* Fail with DDP_ERR_FORMAT: no picture of a list that begins with `picture` has a label file. */
ddp_status ddp_label_files_none(const char *picture, ddp_error *err);

#endif
