#include "layers/winograd/winograd.h"

#ifdef DNNL
#include "blas.h"
#include "layers/onednn.h"
#include "layers/winograd/activate.h"
#include "layers/winograd/tiles.h"
#include "layers/winograd/tiling.h"

#include <math.h>
#include <string.h>

enum {
    MOST_FILTERS = 256, /* of one matrix product: a panel, whose weights lie together */
    MOST_TILES = 64     /* of a block, so that it stays in the cache */
};

int winograd_suits(const convolution_shape *s)
{
    return !s->bf16 && s->size == 3 && s->stride_x == 1 && s->stride_y == 1 && s->dilation == 1
           && s->groups == 1 && s->channels % WINOGRAD_LANES == 0
           && s->filters % WINOGRAD_LANES == 0 && convolution_out_height(s) >= 8
           && convolution_out_width(s) >= 8;
}

int winograd_tile_side(const convolution_shape *s)
{
    return convolution_out_height(s) >= 16 && convolution_out_width(s) >= 16 ? 4 : 2;
}

convolution_shape winograd_backward_shape(const convolution_shape *s)
{
    convolution_shape back = *s;

    back.channels = s->filters;
    back.filters = s->channels;
    back.height = convolution_out_height(s);
    back.width = convolution_out_width(s);
    back.pad = 2 - s->pad;
    back.has_bias = 0;
    back.activation = LINEAR;
    back.sum = CONVOLUTION_SUM_NONE;
    return back;
}

/* ---- weights: [product][panel][channel][filter of the panel] ---- */

static int panel_width(const convolution_shape *s, int first)
{
    return s->filters - first < MOST_FILTERS ? s->filters - first : MOST_FILTERS;
}

static size_t product_weights(const convolution_shape *s)
{
    return (size_t)s->channels * (size_t)s->filters;
}

size_t winograd_packed_bytes(const convolution_shape *s)
{
    return (size_t)winograd_tiling_of(s, MOST_TILES).products * product_weights(s) * sizeof(float);
}

/* Pack windows of 3x3 weights, which lie by_filter and by_channel floats apart. is_turned: 1 turns
 * each window by half a turn. */
static void pack(const convolution_shape *s, const float *weights, size_t by_filter,
                 size_t by_channel, int is_turned, float *packed)
{
    const int m = winograd_tile_side(s);

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int f = 0; f < s->filters; f += WINOGRAD_LANES)
        for (int c = 0; c < s->channels; ++c) {
            const int first = f / MOST_FILTERS * MOST_FILTERS;
            const size_t panel = (size_t)first * (size_t)s->channels;
            const size_t row = (size_t)c * (size_t)panel_width(s, first);

            winograd_transform_weights(
                m, weights + (size_t)f * by_filter + (size_t)c * by_channel, by_filter, is_turned,
                packed + panel + row + (size_t)(f - first), product_weights(s));
        }
}

void winograd_pack(const convolution_shape *s, const float *weights, float *packed)
{
    pack(s, weights, (size_t)s->channels * 9, 9, 0, packed);
}

void winograd_pack_backward(const convolution_shape *s, const float *weights, float *packed)
{
    pack(s, weights, 9, (size_t)s->filters * 9, 1, packed);
}

/* ---- output ---- */

VECTORIZE
static void add_to(float *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        to[i] += from[i];
}

/* Write a row of a tile's output to y; values: the row before bias, sum and activation. */
static void write_row(const convolution_shape *s, const float *bias, float *values, int columns,
                      float *y)
{
    const size_t filters = (size_t)s->filters, count = (size_t)columns * filters;

    for (int j = 0; j < columns && s->has_bias; ++j)
        add_to(values + (size_t)j * filters, bias, filters);
    if (s->sum == CONVOLUTION_SUM_BEFORE)
        add_to(values, y, count);
    winograd_activate(values, count, s->activation);
    if (s->sum == CONVOLUTION_SUM_AFTER)
        add_to(values, y, count);
    memcpy(y, values, count * sizeof *y);
}

/* Write the output of a tile. y: all images. */
static void write_tile(const convolution_shape *s, const winograd_tiling *t, int number,
                       const float *bias, float *products, float *y)
{
    const winograd_tile tile = winograd_tile_at(t, number);
    const size_t filters = (size_t)s->filters;

    winograd_transform_output(t->side, products, s->filters);
    for (int i = 0; i < tile.rows; ++i) {
        const size_t row = (size_t)tile.image * (size_t)t->height + (size_t)(tile.top + i);

        write_row(s, bias, products + (size_t)(i * t->side) * filters, tile.columns,
                  y + (row * (size_t)t->width + (size_t)tile.left) * filters);
    }
}

/* ---- blocks of tiles ---- */

/* Compute a panel of a product, of filters from `first` on. in: [tile][product][channel]; out:
 * [tile][product][filter]. */
static void multiply(const convolution_shape *s, const winograd_tiling *t, int product, int first,
                     int tiles, const float *packed, const float *in, float *out)
{
    const int width = panel_width(s, first);
    const size_t p = (size_t)product;
    const float *weights = packed + p * product_weights(s) + (size_t)first * (size_t)s->channels;

    onednn_gemm(0, 0, tiles, width, s->channels, 1, in + p * (size_t)s->channels,
                t->products * s->channels, weights, width, 0,
                out + p * (size_t)s->filters + (size_t)first, t->products * s->filters, 0);
}

size_t winograd_forward_scratch(const convolution_shape *s)
{
    const winograd_tiling t = winograd_tiling_of(s, MOST_TILES);
    const size_t block = (size_t)t.most_at_once * (size_t)t.products;

    return (block * (size_t)(s->channels + s->filters) + (size_t)s->channels) * sizeof(float);
}

void winograd_forward(const convolution_shape *s, const float *packed, const float *bias,
                      const float *x, float *y, float *scratch)
{
    const winograd_tiling t = winograd_tiling_of(s, MOST_TILES);
    const size_t in_tile = (size_t)t.products * (size_t)s->channels;
    const size_t out_tile = (size_t)t.products * (size_t)s->filters;
    const int panels = (s->filters - 1) / MOST_FILTERS + 1;
    float *in = scratch, *out = in + (size_t)t.at_once * in_tile;
    float *zeros = out + (size_t)t.at_once * out_tile;

    memset(zeros, 0, (size_t)s->channels * sizeof *zeros);
    for (int first = 0; first < t.tiles; first += t.at_once) {
        const int count = t.tiles - first < t.at_once ? t.tiles - first : t.at_once;

#ifdef _OPENMP
#pragma omp parallel
#endif
        {
#ifdef _OPENMP
#pragma omp for
#endif
            for (int i = 0; i < count; ++i)
                winograd_read_tile(s, &t, first + i, x, zeros, in + (size_t)i * in_tile);
#ifdef _OPENMP
#pragma omp for
#endif
            for (int k = 0; k < t.products * panels; ++k)
                multiply(s, &t, k / panels, k % panels * MOST_FILTERS, count, packed, in, out);
#ifdef _OPENMP
#pragma omp for
#endif
            for (int i = 0; i < count; ++i)
                write_tile(s, &t, first + i, bias, out + (size_t)i * out_tile, y);
        }
    }
}
#else
int winograd_suits(const convolution_shape *s)
{
    (void)s;
    return 0;
}
#endif
