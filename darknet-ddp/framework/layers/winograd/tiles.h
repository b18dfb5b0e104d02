/* layers/winograd/tiles.h: Winograd's transforms of tiles and filters, for layers/winograd/.
 *
 * m is 2 or 4 in all functions: the rows and columns of a tile's output. The tile's input has
 * m + 2 rows and columns, and a tile has (m + 2)^2 products, by row and column. */
#ifndef LAYERS_WINOGRAD_TILES_H
#define LAYERS_WINOGRAD_TILES_H

#include <stddef.h>

enum {
    WINOGRAD_MOST_OUT = 4, /* the greatest m */
    WINOGRAD_SIDE = 6,     /* the greatest m + 2 */
    WINOGRAD_LANES = 16    /* numbers of channels and of filters are multiples of this */
};

/* Transform the 3x3 windows of WINOGRAD_LANES filters. With is_turned 1 turn each window by half a
 * turn first. A window has 9 floats, and windows lie `each` floats apart. Write WINOGRAD_LANES
 * floats for each product to out, where products lie `step` floats apart. */
void winograd_transform_weights(int m, const float *windows, size_t each, int is_turned, float *out,
                                size_t step);

/* Add the gradients of the 3x3 windows of one filter and WINOGRAD_LANES channels to windows, 9
 * floats for each channel. sums: WINOGRAD_LANES floats for each product, `step` floats apart. They
 * are sums over all tiles of the input's transform times dy's. */
void winograd_add_windows(int m, const float *sums, size_t step, float *windows);

/* Write the transform of a tile's input to out, [product][channel]. pixels[row][column] points to
 * the channels of a pixel. With m = 2, too, all WINOGRAD_SIDE^2 must be valid. */
void winograd_transform_input(int m, const float *pixels[WINOGRAD_SIDE][WINOGRAD_SIDE],
                              int channels, float *out);

/* Write the transform of a tile's dy, m x m pixels, to out, [product][filter]. pixels[row][column]
 * points to the filters of a pixel. With m = 2, too, all WINOGRAD_MOST_OUT^2 must be valid. */
void winograd_transform_delta(int m, const float *pixels[WINOGRAD_MOST_OUT][WINOGRAD_MOST_OUT],
                              int filters, float *out);

/* Replace a tile's products, [product][filter], by its output, [row][column][filter]: the first
 * m * m * filters floats. */
void winograd_transform_output(int m, float *products, int filters);

#endif
