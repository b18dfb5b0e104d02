#include "layers/winograd/winograd.h"

#ifdef DNNL
#include "layers/onednn.h"
#include "layers/winograd/tiles.h"
#include "layers/winograd/tiling.h"

#include <string.h>

enum { MOST_TILES = 128 /* of a block: each reads and writes all sums */ };

/* Return the floats of the transforms of a block's input or dy. */
static size_t floats_of_block(const winograd_tiling *t, int channels)
{
    return (size_t)t->most_at_once * (size_t)t->products * (size_t)channels;
}

/* Return how many floats of zeros stand for the channels or filters of a pixel beside the image. */
static size_t zeros_of(const convolution_shape *s)
{
    return (size_t)(s->channels > s->filters ? s->channels : s->filters);
}

size_t winograd_sums_bytes(const convolution_shape *s)
{
    const winograd_tiling t = winograd_tiling_of(s, MOST_TILES);

    return (size_t)t.products * (size_t)s->filters * (size_t)s->channels * sizeof(float);
}

size_t winograd_sums_scratch(const convolution_shape *s)
{
    const winograd_tiling t = winograd_tiling_of(s, MOST_TILES);

    return (floats_of_block(&t, s->channels) + floats_of_block(&t, s->filters) + zeros_of(s))
           * sizeof(float);
}

/* Write the transform of a tile's dy to out, [product][filter]. */
static void read_delta(const convolution_shape *s, const winograd_tiling *t, int number,
                       const float *dy, const float *zeros, float *out)
{
    const float *pixels[WINOGRAD_MOST_OUT][WINOGRAD_MOST_OUT];
    const winograd_tile tile = winograd_tile_at(t, number);

    for (int i = 0; i < WINOGRAD_MOST_OUT; ++i)
        for (int j = 0; j < WINOGRAD_MOST_OUT; ++j) {
            const size_t row = (size_t)tile.image * (size_t)t->height + (size_t)(tile.top + i);
            const size_t pixel = row * (size_t)t->width + (size_t)(tile.left + j);
            const int is_inside = i < tile.rows && j < tile.columns;

            pixels[i][j] = is_inside ? dy + pixel * (size_t)s->filters : zeros;
        }
    winograd_transform_delta(t->side, pixels, s->filters, out);
}

/* Add a block's products to the sums, [product][filter][channel]; is_first: 1 sets them. */
static void multiply(const convolution_shape *s, const winograd_tiling *t, int product, int tiles,
                     int is_first, const float *deltas, const float *in, float *sums)
{
    const size_t p = (size_t)product, filters = (size_t)s->filters, channels = (size_t)s->channels;

    onednn_gemm(1, 0, s->filters, s->channels, tiles, 1, deltas + p * filters,
                t->products * s->filters, in + p * channels, t->products * s->channels,
                is_first ? 0 : 1, sums + p * filters * channels, s->channels, 0);
}

void winograd_sum_products(const convolution_shape *s, const float *x, const float *dy,
                           int is_first, float *sums, float *scratch)
{
    const winograd_tiling t = winograd_tiling_of(s, MOST_TILES);
    const size_t in_tile = (size_t)t.products * (size_t)s->channels;
    const size_t delta_tile = (size_t)t.products * (size_t)s->filters;
    float *in = scratch, *deltas = in + floats_of_block(&t, s->channels);
    float *zeros = deltas + floats_of_block(&t, s->filters);

    memset(zeros, 0, zeros_of(s) * sizeof *zeros);
    for (int first = 0; first < t.tiles; first += t.at_once) {
        const int count = t.tiles - first < t.at_once ? t.tiles - first : t.at_once;

#ifdef _OPENMP
#pragma omp parallel
#endif
        {
#ifdef _OPENMP
#pragma omp for
#endif
            for (int i = 0; i < count; ++i) {
                winograd_read_tile(s, &t, first + i, x, zeros, in + (size_t)i * in_tile);
                read_delta(s, &t, first + i, dy, zeros, deltas + (size_t)i * delta_tile);
            }
#ifdef _OPENMP
#pragma omp for
#endif
            for (int p = 0; p < t.products; ++p)
                multiply(s, &t, p, count, is_first && first == 0, deltas, in, sums);
        }
    }
}

void winograd_add_gradients(const convolution_shape *s, const float *sums, float *gradients)
{
    const size_t each = (size_t)s->filters * (size_t)s->channels;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int f = 0; f < s->filters; ++f)
        for (int c = 0; c < s->channels; c += WINOGRAD_LANES) {
            const size_t at = (size_t)f * (size_t)s->channels + (size_t)c;

            winograd_add_windows(winograd_tile_side(s), sums + at, each, gradients + at * 9);
        }
}
#endif
