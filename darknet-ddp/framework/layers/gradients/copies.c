#include "layers/gradients/cut.h"

#include "blas.h"
#include "layers/onednn/lanes.h"
#include "layers/onednn/pixel.h"
#include "layers/onednn/transpose.h"

#include <string.h>

static const unsigned short zeros[SIDE];

/* Set *to to pairs of the values of two pixels, of 16 channels or filters; of only `count`, if that
 * is less, and zeros. */
LANES_INLINE void interleave(int count, const unsigned short *first, const unsigned short *second,
                             transposed *to)
{
    half_lanes a = {0}, b = {0};

    if (count >= SIDE) {
        memcpy(&a, first, sizeof a);
        memcpy(&b, second, sizeof b);
    } else {
        memcpy(&a, first, (size_t)count * sizeof *first);
        memcpy(&b, second, (size_t)count * sizeof *second);
    }
    lanes_interleave(&a, &b, to);
}

/* ---- x ---- */

/* Copy what one column of the window reads of a row of x, of 16 channels.
 *   row       the row; NULL for one beside the image
 *   left      column of x that the window reads for the first pixel of y
 *   channel   the first channel */
VECTORIZE
static void copy_row(const gradients_cut *c, const unsigned short *row, int left, int channel,
                     unsigned *to)
{
    transposed *row_of_panel = (transposed *)(void *)to;
    const int count = c->s.channels - channel, stride = c->s.stride_x;
    const unsigned short *next = row + (size_t)c->s.width * (size_t)(c->s.channels + channel);

    if (!row || count <= 0) {
        memset(to, 0, row_pairs(c) * sizeof *to);
        return;
    }
    for (int p = 0; p < c->pairs; ++p, left += 2 * stride) {
        __builtin_prefetch(next + 2 * p * SIDE); /* a part of the next row for each 16 channels */
        interleave(count, pixel_or_zeros(row, c->s.width, c->s.channels, left, channel),
                   pixel_or_zeros(row, c->s.width, c->s.channels, left + stride, channel),
                   &row_of_panel[p]);
    }
}

/* Copy row `number` of all rows of a chunk's panels, for all columns of the window and channels. */
static void copy_panel_rows(const gradients_cut *c, const gradients_chunk *k,
                            const unsigned short *x, int number, unsigned *to)
{
    const int rows = k->rows + c->shifts, row = number % rows;
    const int image = number / rows % k->images, phase = number / rows / k->images;
    const int y = (k->row + row) * c->s.stride_y + phase - c->s.pad;
    const size_t width = (size_t)c->s.width * (size_t)c->s.channels;
    const unsigned short *from = NULL;

    if (y >= 0 && y < c->s.height)
        from = x + (size_t)((k->image + image) * c->s.height + y) * width;
    to += (size_t)(phase * c->values * channel_halves(c)) * panel_pairs(c)
          + (size_t)(image * rows + row) * row_pairs(c);
    if (c->by_rows) {
        gradients_copy_row_values(c, from, to);
        return;
    }
    for (int i = 0; i < c->s.size; ++i)
        for (int j = 0; j < channel_halves(c); ++j, to += panel_pairs(c))
            copy_row(c, from, i * c->s.dilation - c->s.pad, j * SIDE, to);
}

void gradients_copy_x(const gradients_cut *c, const gradients_chunk *k, const unsigned short *x,
                      unsigned *to)
{
    const int rows = k->images * (k->rows + c->shifts);

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < c->phases * rows; ++i)
        copy_panel_rows(c, k, x, i, to);
    /* The last tile reads numbers behind the last row, and multiplies them by zeros. */
    for (int i = 0; i < panel_count(c); ++i)
        memset(to + (size_t)i * panel_pairs(c) + (size_t)rows * row_pairs(c), 0, TILE * sizeof *to);
}

/* ---- dy ---- */

/* Find the pixels of y that a tile has. rows: where a chunk's rows of the image begin; pixels: NULL
 * for a pixel that is none */
static void find_pixels(const gradients_cut *c, const gradients_chunk *k,
                        const unsigned short *rows, int tile, const unsigned short **pixels)
{
    const int width = 2 * c->pairs, first = tile * 2 * SIDE;
    int row = first / width, column = first % width;

    for (int i = 0; i < 2 * SIDE; ++i) {
        const int pixel = row * c->width + column;

        pixels[i] = NULL;
        if (row < k->rows && column < c->width)
            pixels[i] = rows + (size_t)pixel * (size_t)c->s.filters;
        if (++column == width) {
            column = 0;
            ++row;
        }
    }
}

/* Copy 32 pixels of y, for all filters. number: of the tile, among those of all images of a chunk
 */
VECTORIZE
static void copy_tiles(const gradients_cut *c, const gradients_chunk *k, const unsigned short *dy,
                       int number, unsigned *to)
{
    const int image = k->image + number / k->tiles, row = image * c->height + k->row;
    const size_t width = (size_t)c->width * (size_t)c->s.filters;
    const unsigned short *pixels[2 * SIDE];

    if (c->by_rows) {
        gradients_copy_tile_values(c, k, dy + (size_t)row * width, number % k->tiles,
                                   to + (size_t)number * TILE);
        return;
    }
    find_pixels(c, k, dy + (size_t)row * width, number % k->tiles, pixels);
    for (int j = 0; j < filter_halves(c); ++j) {
        const int first = j * SIDE, count = c->s.filters - first;
        transposed tile[SIDE];

        for (int i = 0; i < SIDE; ++i) {
            const unsigned short *a = pixels[2 * i], *b = pixels[2 * i + 1];

            /* A part of the next tile's pixels. */
            __builtin_prefetch(pixels[0] + (c->s.filters + first + i) * 2 * SIDE);
            interleave(count < 0 ? 0 : count, a ? a + first : zeros, b ? b + first : zeros,
                       &tile[i]);
        }
        transpose(tile,
                  (transposed *)(void *)(to + (size_t)(j * k->images * k->tiles + number) * TILE));
    }
}

void gradients_copy_dy(const gradients_cut *c, const gradients_chunk *k, const unsigned short *dy,
                       unsigned *to)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < k->images * k->tiles; ++i)
        copy_tiles(c, k, dy, i, to);
}
