#include "layers/winograd/row_tiles.h"

#include "blas.h"
#include "layers/onednn/windows.h"
#include "layers/winograd/row_formulas.h"

enum { WINDOW = 3 /* rows and columns of a window */ };

static const unsigned short zeros[ROW_LANES];

static inline __attribute__((always_inline)) void store(const row_floats *x, unsigned short *to)
{
    row_words rounded;
    row_halves halves;

    row_round(x, &rounded);
    halves = __builtin_convertvector(rounded, row_halves);
    memcpy(to, &halves, sizeof halves);
}

/* ---- input ---- */

static inline const unsigned short *pixel_of(const unsigned short *row, int width, int channels,
                                             int column, int channel)
{
    return column < 0 || column >= width ? zeros
                                         : row + (size_t)column * (size_t)channels + channel;
}

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
                row_load(pixel_of(row, width, channels, left + i, c), &x[i]);
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

VECTORIZE
void row_tiles_transform_output(const float *sums, size_t step, int width, const float *bias,
                                int add, int filters, unsigned short *to)
{
    for (int left = 0; left < width; left += ROW_TILE, sums += ROW_FILTERS)
        for (int f = 0; f < ROW_FILTERS; f += ROW_LANES) {
            row_floats m[ROW_VALUES], y[ROW_TILE], of_filters = {0}, held = {0};

            for (int i = 0; i < ROW_VALUES; ++i)
                memcpy(&m[i], sums + (size_t)i * step + f, sizeof m[i]);
            row_transform_sums(m, y);
            if (bias)
                memcpy(&of_filters, bias + f, sizeof of_filters);
            for (int i = 0; i < ROW_TILE && left + i < width; ++i) {
                unsigned short *pixel = to + (size_t)(left + i) * (size_t)filters + f;

                if (add)
                    row_load(pixel, &held);
                y[i] += of_filters + held;
                store(&y[i], pixel);
            }
        }
}
