/* inputs/weights_file.h: tells weights files from other files, for messages about a file in the
 * place of another kind. */
#ifndef DDP_INPUTS_WEIGHTS_FILE_H
#define DDP_INPUTS_WEIGHTS_FILE_H

#include <stddef.h>

/* Return 1 if a weights file that Darknet writes may begin with these `count` bytes. Zeros alone
 * do; fewer than 12 bytes do not. */
int ddp_begins_as_weights(const unsigned char *head, size_t count);

/* Return 1 if the file at path is a weights file, 0 if not or if it cannot be read. It is one if
 * its first bytes say so and the first 8 are not all zeros. A file with other first bytes is one if
 * its name says so and it does not begin like a cfg. */
int ddp_is_weights_file(const char *path);

/* Return 1 if the file at path may be a weights file, 0 if it does not begin as one. A file that
 * cannot be looked at (a pipe, or not there) may be one: the code that loads it says what is wrong.
 */
int ddp_may_be_weights(const char *path);

/* Return 1 if the end of the name says a model of another framework (.pt, .yaml, .onnx, ...). */
int ddp_is_foreign_model(const char *path);

#endif
