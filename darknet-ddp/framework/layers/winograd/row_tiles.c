#include "layers/winograd/row_tiles.h"

#include "blas.h"
#include "layers/onednn/pixel.h"
#include "layers/onednn/windows.h"
#include "layers/winograd/activate.h"
#include "layers/winograd/row_formulas.h"

enum { WINDOW = 3 /* rows and columns of a window */ };

static inline __attribute__((always_inline)) void store(const row_floats *x, unsigned short *to)
{
    row_words rounded;
    row_halves halves;

    row_round(x, &rounded);
    halves = __builtin_convertvector(rounded, row_halves);
    memcpy(to, &halves, sizeof halves);
}

/* ---- input ---- */

VECTORIZE
void row_tiles_transform_input(const unsigned short *row, int width, int channels, int left,
                               int tiles, unsigned short *to, size_t step)
{
    if (!row) {
        for (int i = 0; i < ROW_VALUES; ++i)
            memset(to + (size_t)i * step, 0, (size_t)(tiles * channels) * sizeof *to);
        return;
    }
    for (int t = 0; t < tiles; ++t, left += ROW_TILE)
        for (int c = 0; c < channels; c += ROW_LANES, to += ROW_LANES) {
            row_floats x[ROW_VALUES], values[ROW_VALUES];

            for (int i = 0; i < ROW_VALUES; ++i)
                row_load(pixel_or_zeros(row, width, channels, left + i, c), &x[i]);
            row_transform_input(x, values);
            for (int i = 0; i < ROW_VALUES; ++i)
                store(&values[i], to + (size_t)i * step);
        }
}

/* ---- weights ---- */

/* Set values to those of a row of the window. */
static inline __attribute__((always_inline)) void row_of_window(const row_floats *window, int row,
                                                                int is_turned, row_floats *values)
{
    row_floats w[WINDOW];

    for (int i = 0; i < WINDOW; ++i)
        w[i] = window[is_turned ? WINDOW * WINDOW - 1 - row * WINDOW - i : row * WINDOW + i];
    row_transform_weights(w, values);
}

VECTORIZE
void row_tiles_transform_weights(const float *windows, size_t by_filter, size_t by_channel,
                                 const float *end, int is_turned, unsigned *to, size_t step,
                                 size_t by_row)
{
    row_floats a[WINDOW * WINDOW], b[WINDOW * WINDOW];

    load_windows(windows, by_filter, end, a);
    load_windows(windows + by_channel, by_filter, end, b);
    for (int r = 0; r < WINDOW; ++r) {
        row_floats first[ROW_VALUES], second[ROW_VALUES];

        row_of_window(a, r, is_turned, first);
        row_of_window(b, r, is_turned, second);
        for (int i = 0; i < ROW_VALUES; ++i) {
            transposed pairs;

            round_to_pairs(&first[i], &second[i], &pairs);
            memcpy(to + (size_t)r * by_row + (size_t)i * step, &pairs, sizeof pairs);
        }
    }
}

/* ---- output ---- */

/* Activate the pixels of a tile. */
static void activate_tile(row_floats *y, ACTIVATION activation)
{
    float values[ROW_TILE * ROW_LANES];

    memcpy(values, y, sizeof values);
    winograd_activate(values, ROW_TILE * ROW_LANES, activation);
    memcpy(y, values, sizeof values);
}

/* Compute the first `count` pixels of a tile, of ROW_LANES filters from `first` on. */
static inline __attribute__((always_inline)) void compute_pixels(const row_floats *sums, int count,
                                                                 const row_output *output,
                                                                 int first, int filters,
                                                                 unsigned short *to)
{
    row_floats y[ROW_TILE], held[ROW_TILE] = {{0}}, bias = {0};

    if (output->bias)
        memcpy(&bias, output->bias + first, sizeof bias);
    for (int i = 0; i < count && output->sum != CONVOLUTION_SUM_NONE; ++i)
        row_load(to + i * filters, &held[i]);
    row_transform_sums(sums, y);
    for (int i = 0; i < ROW_TILE; ++i) {
        y[i] += bias;
        if (output->sum == CONVOLUTION_SUM_BEFORE)
            y[i] += held[i];
    }
    if (output->activation != LINEAR)
        activate_tile(y, output->activation);
    for (int i = 0; i < count; ++i) {
        if (output->sum == CONVOLUTION_SUM_AFTER)
            y[i] += held[i];
        store(&y[i], to + i * filters);
    }
}

VECTORIZE
void row_tiles_transform_output(const float *sums, size_t step, int width, const row_output *output,
                                int filters, unsigned short *to)
{
    for (; width > 0; width -= ROW_TILE, sums += ROW_FILTERS, to += ROW_TILE * filters)
        for (int f = 0; f < ROW_FILTERS; f += ROW_LANES) {
            row_floats m[ROW_VALUES];

            for (int i = 0; i < ROW_VALUES; ++i)
                memcpy(&m[i], sums + (size_t)i * step + f, sizeof m[i]);
            compute_pixels(m, width < ROW_TILE ? width : ROW_TILE, output, f, filters, to + f);
        }
}
