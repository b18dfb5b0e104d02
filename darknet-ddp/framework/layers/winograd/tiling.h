/* layers/winograd/tiling.h: how the outputs of several images are cut into tiles, and the transform
 * of a tile's input. For the files of layers/winograd/. */
#ifndef LAYERS_WINOGRAD_TILING_H
#define LAYERS_WINOGRAD_TILING_H

#include "layers/winograd/winograd.h"

/* Tiles are numbered by image, row and column. The last ones of a row or column may reach beyond
 * the image. */
typedef struct {
    int side, products; /* m; products of a tile */
    int height, width;  /* size of an image's output */
    int across, each;   /* tiles in a row, and in an image */
    int tiles;          /* tiles in all images */
    int at_once;        /* tiles of a block; the last block has fewer */
    int most_at_once;   /* tiles that a block has at most, also with fewer images */
} winograd_tiling;

/* Where a tile's output begins, which has at most m x m pixels. */
typedef struct {
    int image, top, left;
    int rows, columns; /* rows and columns of the tile that are in the image */
} winograd_tile;

/* Return the tiling of a shape's output, with at most most_at_once tiles in a block. */
winograd_tiling winograd_tiling_of(const convolution_shape *s, int most_at_once);

/* Return where a tile lies. */
winograd_tile winograd_tile_at(const winograd_tiling *t, int number);

/* Write the transform of a tile's input to out, [product][channel]. x: all images; zeros: a float
 * of 0 for each channel, for the pixels beside an image. */
void winograd_read_tile(const convolution_shape *s, const winograd_tiling *t, int number,
                        const float *x, const float *zeros, float *out);

#endif
