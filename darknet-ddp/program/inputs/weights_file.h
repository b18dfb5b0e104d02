/* inputs/weights_file.h: tells weights files from other files, by their first bytes and names. */
#ifndef DDP_INPUTS_WEIGHTS_FILE_H
#define DDP_INPUTS_WEIGHTS_FILE_H

#include <stddef.h>

/* Return 1 if a weights file of Darknet may begin with these `count` bytes; 0 also if there are
 * fewer than 12. All zeros give 1. */
int ddp_begins_as_weights(const unsigned char *head, size_t count);

/* Return 1 if the file at path begins like a weights file. Return 1 also if it is named like one
 * (.weights, .backup, .conv.N), unless it begins like a cfg or with a zero byte. Else return 0,
 * also if the file is empty, begins with 8 zero bytes or cannot be read. */
int ddp_is_weights_file(const char *path);

/* Return 0 if the file at path is empty, or does not begin like a weights file. Else return 1, also
 * if it cannot be read (a pipe, or missing). */
int ddp_may_be_weights(const char *path);

/* Return 1 if the path has the ending of another framework's model (.pt, .yaml, .onnx, ...). */
int ddp_is_foreign_model(const char *path);

#endif
