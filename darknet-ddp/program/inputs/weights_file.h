/* inputs/weights_file.h: is a file one of weights? Where a text file is wanted, that is said. */
#ifndef DDP_INPUTS_WEIGHTS_FILE_H
#define DDP_INPUTS_WEIGHTS_FILE_H

#include <stddef.h>

/* Could Darknet have written what begins with these bytes as weights? Zeros alone it could. */
int ddp_begins_as_weights(const unsigned char *head, size_t count);

/* Is the file at path one of weights, by its first bytes, or by its name where it does not begin as
 * a text of sections and options does? */
int ddp_is_weights_file(const char *path);

/* Does the file at path, which is to be one of weights, begin as one? Where that cannot be seen (a
 * pipe, or not there) whoever loads it says what is wrong. */
int ddp_may_be_weights(const char *path);

/* Is the file at path, by the end of its name, a model of another framework (.pt, .yaml, .onnx,
 * ...)? */
int ddp_is_foreign_model(const char *path);

#endif
