/* layers/winograd/tiling.h: cuts the outputs of several images into tiles, and computes Winograd's
 * transform of a tile's input. For the files of layers/winograd/. */
#ifndef LAYERS_WINOGRAD_TILING_H
#define LAYERS_WINOGRAD_TILING_H

#include "layers/winograd/winograd.h"

/* The tiles of all images' outputs, numbered by image, row and column. The last ones of a row or
 * column may reach beyond the image. Tiles are computed in blocks of successive numbers. */
typedef struct {
    int side;          /* m: rows and columns of a tile's output */
    int products;      /* products of a tile: (m + 2)^2 */
    int height, width; /* size of an image's output */
    int across, each;  /* tiles in a row, and in an image */
    int tiles;         /* tiles in all images */
    int at_once;       /* tiles of each block; the last block may have fewer */
    int most_at_once;  /* at_once is not above this, also with fewer images: for the size
                          of scratch memory */
} winograd_tiling;

/* Where the output of a tile lies, at most m x m pixels. */
typedef struct {
    int image, top, left; /* the image; row and column of the first pixel */
    int rows, columns;    /* rows and columns of the tile that are in the image */
} winograd_tile;

/* Return the tiling of a shape's output, with at most most_at_once tiles in a block. */
winograd_tiling winograd_tiling_of(const convolution_shape *s, int most_at_once);

/* Return where tile `number` (from 0 to t->tiles - 1) lies. */
winograd_tile winograd_tile_at(const winograd_tiling *t, int number);

/* Write the transform of tile `number`'s input to out, [product][channel]. x: all images. zeros: a
 * float of 0 for each channel; it is read for pixels outside the image. */
void winograd_read_tile(const convolution_shape *s, const winograd_tiling *t, int number,
                        const float *x, const float *zeros, float *out);

#endif
