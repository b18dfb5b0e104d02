/* A small detector, in files of a folder of its own, for tests of the library. */
#ifndef DDP_TESTS_LIBRARY_TINY_H
#define DDP_TESTS_LIBRARY_TINY_H

#include "library/darknet_ddp.h"

#include <stddef.h>

enum { TINY_SIDE = 32, TINY_CLASSES = 2 };

extern const char tiny_cfg[]; /* its cfg, which has a [yolo] */

/* Make a folder, and make it the working directory. Writes there tiny.cfg, and one.weights and
 * two.weights of numbers that differ. */
void tiny_begin(void);
/* Remove the folder with all its files. */
void tiny_end(void);

/* Write a file. */
void tiny_write(const char *path, const void *bytes, size_t size);
/* Return the bytes of a file, for free(), and set *size. */
unsigned char *tiny_read(const char *path, size_t *size);

/* Open tiny.cfg with a weights file; fails the test with the library's sentence. */
darknet_ddp_model *tiny_open(const char *weights);

/* Return a sum over all boxes of three pictures, which the network of other weights does not give.
 * Fails the test if there are none. */
double tiny_look(darknet_ddp_model *model);

#endif
