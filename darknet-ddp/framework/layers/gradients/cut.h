/* layers/gradients/cut.h: how a mini-batch is cut into chunks, and where their copies lie. For the
 * other files of layers/gradients/.
 *
 * A product is computed block by block. A block has 32 filters and 32 channels, each in two halves.
 * x is copied in panels.
 *
 * A panel has what one column of the window reads, of one half of a block. A row of a panel has the
 * pixels of a row of y. So a row of the window reads a panel from one of its rows on.
 *
 * "By rows", Winograd's values (winograd/row_formulas.h) are multiplied. A panel then has one of
 * the values in place of a column, and tiles of a row of y in place of pixels. Each value has a
 * copy of dy, too. */
#ifndef LAYERS_GRADIENTS_CUT_H
#define LAYERS_GRADIENTS_CUT_H

#include "layers/onednn/convolution.h"
#include "layers/winograd/row_formulas.h"

enum {
    SIDE = 16,                            /* filters, channels, and pairs of pixels, of a tile */
    TILE = SIDE * SIDE,                   /* pairs of bf16 numbers, or floats, of a tile */
    BLOCK_SIDE = 2 * SIDE,                /* filters, and channels, of a block */
    BLOCK_SUMS = BLOCK_SIDE * BLOCK_SIDE, /* floats of a block, for one weight of the window */
    MOST_WINDOW = 49 /* weights of a window; of a larger one columns are multiplied */
};

/* How a mini-batch is cut. */
typedef struct {
    convolution_shape s; /* the shape that is multiplied: the one asked for, or its columns' */
    int window;          /* weights that a filter asked for has, for one channel */
    int has_columns;     /* 1: s is the shape of the columns */
    int channels;        /* channels, or numbers of a window, that have gradients */
    int height, width;   /* rows and columns of y, by s */
    int by_rows;         /* 1: Winograd's values are multiplied */
    int values;          /* panels for one phase and half: columns of the window, or values */
    int pairs;           /* pairs of pixels, or tiles, in a row of a panel; the last may be none */
    int images, rows;    /* most images of a chunk, and most rows of y of each image */
    int phases;          /* panels for one value and one half: row r of phase p has row
                            r * stride_y + p of the padded image */
    int shifts;          /* rows of a panel behind those of y */
    int chunks;
} gradients_cut;

/* A part of the mini-batch that is copied and multiplied at once. */
typedef struct {
    int image, images;     /* the first image, and how many there are */
    int row, rows;         /* the first row of y in each image, and how many there are */
    int tiles;             /* tiles of dy for 16 filters and one image: one for each 16 pairs */
    int is_first, is_last; /* 1: it is the first, or the last, chunk of the mini-batch */
} gradients_chunk;

/* Scratch memory. A pair has two bf16 numbers: of two pixels, or tiles, side by side. */
typedef struct {
    unsigned *x;  /* [phase][value][half][image][row][pair][channel] */
    unsigned *dy; /* [value][half][image][tile][filter][pair]; one value, if not by rows */
    float *sums;  /* [block][row of the window][value][half of filters][half of channels][16][16] */
    unsigned short *columns; /* a chunk's, as write_columns has written them */
} gradients_memory;

static inline int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

/* Return how many halves of blocks all channels, or filters, make. */
static inline int channel_halves(const gradients_cut *c)
{
    return (c->s.channels + BLOCK_SIDE - 1) / BLOCK_SIDE * 2;
}

static inline int filter_halves(const gradients_cut *c)
{
    return (c->s.filters + BLOCK_SIDE - 1) / BLOCK_SIDE * 2;
}

static inline int block_count(const gradients_cut *c)
{
    return channel_halves(c) / 2 * (filter_halves(c) / 2);
}

static inline size_t sums_of_block(const gradients_cut *c)
{
    return (size_t)(c->s.size * c->values) * BLOCK_SUMS;
}

/* Return how many pairs of numbers a row of a panel, or a panel, has. The last tile may reach
 * behind the last row. */
static inline size_t row_pairs(const gradients_cut *c)
{
    return (size_t)c->pairs * SIDE;
}

static inline size_t panel_pairs(const gradients_cut *c)
{
    return (size_t)(c->images * (c->rows + c->shifts)) * row_pairs(c) + TILE;
}

/* Return how many panels a chunk has. */
static inline int panel_count(const gradients_cut *c)
{
    return c->phases * c->values * channel_halves(c);
}

/* Return the cut of a shape's mini-batch. may_go_by_rows: 1 if Winograd's values may be multiplied,
 * if they suit the shape */
gradients_cut gradients_cut_of(const convolution_shape *asked, int may_go_by_rows);

/* Return chunk `number`, from 0. */
gradients_chunk gradients_chunk_at(const gradients_cut *c, int number);

/* Return how many pairs of numbers the copy of dy of a chunk has. */
size_t gradients_dy_pairs(const gradients_cut *c);

/* Return how many bytes copies, sums and columns take. */
size_t gradients_scratch_of(const gradients_cut *c);

gradients_memory gradients_memory_at(const gradients_cut *c, void *scratch);

/* Copy a chunk of x, or of dy. */
void gradients_copy_x(const gradients_cut *c, const gradients_chunk *k, const unsigned short *x,
                      unsigned *to);
void gradients_copy_dy(const gradients_cut *c, const gradients_chunk *k, const unsigned short *dy,
                       unsigned *to);

/* ---- row_copies.c: by rows ---- */

/* Write the values of a row of x. row: NULL for one beside the image; to: the row in the first
 * value's first panel */
void gradients_copy_row_values(const gradients_cut *c, const unsigned short *row, unsigned *to);

/* Write the values of 32 tiles of y.
 *   rows   where the chunk's rows of the image begin in dy
 *   tile   number of the tile of pairs, among those of the image
 *   to     the first value's tile of the first half */
void gradients_copy_tile_values(const gradients_cut *c, const gradients_chunk *k,
                                const unsigned short *rows, int tile, unsigned *to);

/* Turn a block's sums into [row of the window][column of the window][...]: gradients. */
void gradients_transform_sums(const gradients_cut *c, float *sums);

#endif
