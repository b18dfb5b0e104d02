/* layers/inference/winograd_tiles.h: the transforms of one tile. For winograd.c.
 *
 * m is 2 or 4 in all functions: the rows and columns of a tile's output. The tile's input has
 * m + 2 rows and columns, and a tile has (m + 2)^2 products, by row and column. */
#ifndef LAYERS_INFERENCE_WINOGRAD_TILES_H
#define LAYERS_INFERENCE_WINOGRAD_TILES_H

#include <stddef.h>

enum {
    WINOGRAD_SIDE = 6,  /* the greatest m + 2 */
    WINOGRAD_LANES = 16 /* numbers of channels and of filters are multiples of this */
};

/* Transform the 3x3 windows of WINOGRAD_LANES filters. windows: 9 floats for each filter, `each`
 * floats apart. out: for each product WINOGRAD_LANES floats, `step` floats apart. */
void winograd_transform_weights(int m, const float *windows, size_t each, float *out, size_t step);

/* Write the transform of a tile's input to out, [product][channel]. pixels: where the channels of
 * each pixel lie, by row and column. All of these pointers are valid, also with m = 2. */
void winograd_transform_input(int m, const float *pixels[WINOGRAD_SIDE][WINOGRAD_SIDE],
                              int channels, float *out);

/* Replace a tile's products, [product][filter], by its output, [row][column][filter]: the first
 * m * m * filters floats. */
void winograd_transform_output(int m, float *products, int filters);

#endif
