/* inputs/label_files.h: which label files the pictures of a detector's list have. */
#ifndef DDP_INPUTS_LABEL_FILES_H
#define DDP_INPUTS_LABEL_FILES_H

#include "base/status.h"

#include <stddef.h>

/* Looks through the n pictures in paths until one has a label file with something in it. *empty:
 * there are label files, and nothing is in any. Fails with DDP_ERR_FORMAT, and a sentence: there is
 * none, or with `required` a picture lacks its own. */
ddp_status ddp_label_files_find(char *const *paths, size_t n, int required, int *empty,
                                ddp_error *err) DDP_MUST_CHECK;

/* Does this picture have one? */
int ddp_label_files_has(const char *picture);

/* Says that no picture has one, of a list that begins with this picture: DDP_ERR_FORMAT. */
ddp_status ddp_label_files_none(const char *picture, ddp_error *err);

#endif
