/* layers/gradients/columns.h: columns of bf16 images: for each pixel of y, what the window reads of
 * x, by row, column and channel of the window. */
#ifndef LAYERS_GRADIENTS_COLUMNS_H
#define LAYERS_GRADIENTS_COLUMNS_H

#include "layers/onednn/convolution.h"

/* Return how many bytes the columns of s->images images take. */
size_t columns_bytes(const convolution_shape *s);

/* Return the shape of a convolution of 1x1 that reads the columns of s: their values are its
 * channels. */
convolution_shape columns_shape(const convolution_shape *s);

/* Write the columns of x. Where the window reaches beside the image they are zero. */
void write_columns(const convolution_shape *s, const unsigned short *x, unsigned short *columns);

#endif
