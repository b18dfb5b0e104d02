/* layers/gradients/columns.h: columns of bf16 images: for each pixel of y, what the window reads of
 * x, by row, column and channel of the window. Other numbers follow, so that all pixels have as
 * many numbers as whole blocks have channels (cut.h). */
#ifndef LAYERS_GRADIENTS_COLUMNS_H
#define LAYERS_GRADIENTS_COLUMNS_H

#include "layers/onednn/convolution.h"

/* Return how many numbers a window reads. */
int columns_values(const convolution_shape *s);

/* Return the shape of a convolution of 1x1 that reads the columns of s: the numbers of a pixel are
 * its channels. */
convolution_shape columns_shape(const convolution_shape *s);

/* Write the columns of `rows` rows of y, from row `first` of those of all images on. Where the
 * window reaches beside the image they are zero. */
void write_columns(const convolution_shape *s, const unsigned short *x, int first, int rows,
                   unsigned short *columns);

#endif
