#include "layers/gradients/cut.h"

#include "blas.h"
#include "layers/onednn/pixel.h"
#include "layers/onednn/windows.h"
#include "layers/winograd/row_formulas.h"

/*
 * Copies of Winograd's values along rows (cut.h). A pair has the values of two tiles side by side.
 */

static const unsigned short zeros[SIDE];

/* ---- x ---- */

/* Transform 16 channels of a row of x. to: the row in the panel of the first value, whose half the
 * channels are */
VECTORIZE
static void copy_row(const gradients_cut *c, const unsigned short *row, int channel, unsigned *to)
{
    const size_t step = (size_t)channel_halves(c) * panel_pairs(c);
    int left = -c->s.pad;

    for (int p = 0; p < c->pairs; ++p, left += 2 * ROW_TILE, to += SIDE) {
        row_floats x[ROW_TILE + ROW_VALUES], first[ROW_VALUES], second[ROW_VALUES];

        for (int i = 0; i < ROW_TILE + ROW_VALUES; ++i)
            row_load(pixel_or_zeros(row, c->s.width, c->s.channels, left + i, channel), &x[i]);
        row_transform_input(x, first);
        row_transform_input(x + ROW_TILE, second);
        for (int i = 0; i < ROW_VALUES; ++i)
            round_to_pairs(&first[i], &second[i], (transposed *)(void *)(to + (size_t)i * step));
    }
}

void gradients_copy_row_values(const gradients_cut *c, const unsigned short *row, unsigned *to)
{
    if (!row) {
        for (int i = 0; i < ROW_VALUES * channel_halves(c); ++i)
            memset(to + (size_t)i * panel_pairs(c), 0, row_pairs(c) * sizeof *to);
        return;
    }
    for (int j = 0; j < channel_halves(c); ++j, to += panel_pairs(c))
        copy_row(c, row, j * SIDE, to);
}

/* ---- dy ---- */

/* Find the pixels of the tiles of y that a tile of pairs has. rows: where a chunk's rows of the
 * image begin; pixels: NULL for a pixel that is none */
static void find_pixels(const gradients_cut *c, const gradients_chunk *k,
                        const unsigned short *rows, int number,
                        const unsigned short *pixels[2 * SIDE][ROW_TILE])
{
    const int width = 2 * c->pairs;

    for (int i = 0; i < 2 * SIDE; ++i) {
        const int tile = number * 2 * SIDE + i, row = tile / width;

        for (int j = 0; j < ROW_TILE; ++j) {
            const int column = tile % width * ROW_TILE + j;
            const int pixel = row * c->width + column;

            pixels[i][j] = NULL;
            if (row < k->rows && column < c->width)
                pixels[i][j] = rows + (size_t)pixel * (size_t)c->s.filters;
        }
    }
}

/* Set values to those of a tile's pixels, of 16 filters. */
static inline __attribute__((always_inline)) void delta_values(const unsigned short *const *pixels,
                                                               int filter, row_floats *values)
{
    row_floats dy[ROW_TILE];

    for (int i = 0; i < ROW_TILE; ++i)
        row_load(pixels[i] ? pixels[i] + filter : zeros, &dy[i]);
    row_transform_delta(dy, values);
}

VECTORIZE
void gradients_copy_tile_values(const gradients_cut *c, const gradients_chunk *k,
                                const unsigned short *rows, int tile, unsigned *to)
{
    const size_t step = (size_t)(k->images * k->tiles) * TILE;
    const unsigned short *pixels[2 * SIDE][ROW_TILE];

    find_pixels(c, k, rows, tile, pixels);
    for (int j = 0; j < filter_halves(c); ++j, to += step) {
        transposed tiles[ROW_VALUES][SIDE];

        for (int i = 0; i < SIDE; ++i) {
            row_floats first[ROW_VALUES], second[ROW_VALUES];

            delta_values(pixels[2 * i], j * SIDE, first);
            delta_values(pixels[2 * i + 1], j * SIDE, second);
            for (int v = 0; v < ROW_VALUES; ++v)
                round_to_pairs(&first[v], &second[v], &tiles[v][i]);
        }
        for (int v = 0; v < ROW_VALUES; ++v)
            transpose(tiles[v], (transposed *)(void *)(to + (size_t)(v * filter_halves(c)) * step));
    }
}

/* ---- sums ---- */

VECTORIZE
void gradients_transform_sums(const gradients_cut *c, float *sums)
{
    for (int r = 0; r < c->s.size; ++r)
        for (int i = 0; i < BLOCK_SUMS; i += SIDE) {
            const float *from = sums + (size_t)(r * ROW_VALUES) * BLOCK_SUMS + i;
            float *to = sums + (size_t)(r * c->s.size) * BLOCK_SUMS + i;
            row_floats m[ROW_VALUES], w[ROW_VALUES];

            for (int v = 0; v < ROW_VALUES; ++v)
                memcpy(&m[v], from + (size_t)v * BLOCK_SUMS, sizeof m[v]);
            row_transform_gradients(m, w);
            for (int j = 0; j < c->s.size; ++j)
                memcpy(to + (size_t)j * BLOCK_SUMS, &w[j], sizeof w[j]);
        }
}
