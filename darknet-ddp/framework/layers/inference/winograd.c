#include "layers/inference/winograd.h"

#ifdef DNNL
#include "activations.h"
#include "blas.h"
#include "layers/inference/winograd_tiles.h"
#include "layers/onednn.h"

#include <math.h>
#include <string.h>

enum {
    MOST_FILTERS = 256, /* of one matrix product: a panel, whose weights lie together */
    MOST_TILES = 64     /* computed at once */
};

typedef struct {
    int side, products; /* m; products of a tile */
    int height, width;  /* of the output */
    int across, tiles;  /* tiles of a row and of an image */
    int at_once;        /* tiles computed at once, but for an image's last ones */
} tiling;

static tiling tiling_of(const convolution_shape *s)
{
    const int m = winograd_tile_side(s);
    tiling t = {
        .side = m,
        .products = (m + 2) * (m + 2),
        .height = convolution_out_height(s),
        .width = convolution_out_width(s),
    };
    int blocks;

    t.across = (t.width - 1) / m + 1;
    t.tiles = ((t.height - 1) / m + 1) * t.across;
    blocks = (t.tiles - 1) / MOST_TILES + 1;
    t.at_once = (t.tiles - 1) / blocks + 1;
    return t;
}

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
    return (size_t)tiling_of(s).products * product_weights(s) * sizeof(float);
}

void winograd_pack(const convolution_shape *s, const float *weights, float *packed)
{
    const int m = winograd_tile_side(s);
    const size_t each = (size_t)s->channels * 9;

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int c = 0; c < s->channels; ++c)
        for (int f = 0; f < s->filters; f += WINOGRAD_LANES) {
            const int first = f / MOST_FILTERS * MOST_FILTERS;
            const size_t panel = (size_t)first * (size_t)s->channels;
            const size_t row = (size_t)c * (size_t)panel_width(s, first);

            winograd_transform_weights(m, weights + (size_t)f * each + (size_t)c * 9, each,
                                       packed + panel + row + (size_t)(f - first),
                                       product_weights(s));
        }
}

/* ---- input ---- */

/* Transform the input of a tile of image x. zeros: channels of a pixel beside the image. */
static void read_tile(const convolution_shape *s, const tiling *t, int tile, const float *x,
                      const float *zeros, float *out)
{
    const float *pixels[WINOGRAD_SIDE][WINOGRAD_SIDE];
    const int top = tile / t->across * t->side - s->pad;
    const int left = tile % t->across * t->side - s->pad;

    for (int i = 0; i < WINOGRAD_SIDE; ++i)
        for (int j = 0; j < WINOGRAD_SIDE; ++j) {
            const int row = top + i, column = left + j;
            const size_t pixel = (size_t)row * (size_t)s->width + (size_t)column;
            const int is_inside = row >= 0 && row < s->height && column >= 0 && column < s->width;

            pixels[i][j] = is_inside ? x + pixel * (size_t)s->channels : zeros;
        }
    winograd_transform_input(t->side, pixels, s->channels, out);
}

/* ---- output ---- */

VECTORIZE
static void add_to(float *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        to[i] += from[i];
}

/* Do what activate_array does with MISH, which it chooses anew for each value. */
VECTORIZE
static void activate_mish(float *x, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        x[i] = mish_activate(x[i]);
}

/* Write a row of a tile's output to y; values: the row before bias, sum and activation. */
static void write_row(const convolution_shape *s, const float *bias, float *values, int columns,
                      float *y)
{
    const size_t filters = (size_t)s->filters, count = (size_t)columns * filters;

    for (int j = 0; j < columns; ++j)
        add_to(values + (size_t)j * filters, bias, filters);
    if (s->sum == CONVOLUTION_SUM_BEFORE)
        add_to(values, y, count);
    if (s->activation == MISH)
        activate_mish(values, count);
    else
        activate_array(values, (int)count, s->activation);
    if (s->sum == CONVOLUTION_SUM_AFTER)
        add_to(values, y, count);
    memcpy(y, values, count * sizeof *y);
}

/* Write the output of a tile to image y. */
static void write_tile(const convolution_shape *s, const tiling *t, int tile, const float *bias,
                       float *products, float *y)
{
    const int top = tile / t->across * t->side, left = tile % t->across * t->side;
    const int columns = t->width - left < t->side ? t->width - left : t->side;
    const size_t filters = (size_t)s->filters;

    winograd_transform_output(t->side, products, s->filters);
    for (int i = 0; i < t->side && top + i < t->height; ++i)
        write_row(s, bias, products + (size_t)(i * t->side) * filters, columns,
                  y + ((size_t)(top + i) * (size_t)t->width + (size_t)left) * filters);
}

/* ---- blocks of tiles ---- */

/* Compute a panel of a product, of filters from `first` on. in: [tile][product][channel]; out:
 * [tile][product][filter]. */
static void multiply(const convolution_shape *s, const tiling *t, int product, int first, int tiles,
                     const float *packed, const float *in, float *out)
{
    const int width = panel_width(s, first);
    const size_t p = (size_t)product;
    const float *weights = packed + p * product_weights(s) + (size_t)first * (size_t)s->channels;

    onednn_gemm(0, 0, tiles, width, s->channels, 1, in + p * (size_t)s->channels,
                t->products * s->channels, weights, width, 0,
                out + p * (size_t)s->filters + (size_t)first, t->products * s->filters, 0);
}

size_t winograd_scratch_bytes(const convolution_shape *s)
{
    const tiling t = tiling_of(s);
    const size_t block = (size_t)t.at_once * (size_t)t.products;

    return (block * (size_t)(s->channels + s->filters) + (size_t)s->channels) * sizeof(float);
}

/* Compute image y from image x. */
static void compute_image(const convolution_shape *s, const tiling *t, const float *packed,
                          const float *bias, const float *x, float *y, float *scratch)
{
    const size_t in_tile = (size_t)t->products * (size_t)s->channels;
    const size_t out_tile = (size_t)t->products * (size_t)s->filters;
    const int panels = (s->filters - 1) / MOST_FILTERS + 1;
    float *in = scratch, *out = in + (size_t)t->at_once * in_tile;
    float *zeros = out + (size_t)t->at_once * out_tile;

    memset(zeros, 0, (size_t)s->channels * sizeof *zeros);
    for (int first = 0; first < t->tiles; first += t->at_once) {
        const int count = t->tiles - first < t->at_once ? t->tiles - first : t->at_once;

#ifdef _OPENMP
#pragma omp parallel
#endif
        {
#ifdef _OPENMP
#pragma omp for
#endif
            for (int i = 0; i < count; ++i)
                read_tile(s, t, first + i, x, zeros, in + (size_t)i * in_tile);
#ifdef _OPENMP
#pragma omp for
#endif
            for (int k = 0; k < t->products * panels; ++k)
                multiply(s, t, k / panels, k % panels * MOST_FILTERS, count, packed, in, out);
#ifdef _OPENMP
#pragma omp for
#endif
            for (int i = 0; i < count; ++i)
                write_tile(s, t, first + i, bias, out + (size_t)i * out_tile, y);
        }
    }
}

void winograd_forward(const convolution_shape *s, const float *packed, const float *bias,
                      const float *x, float *y, float *scratch)
{
    const tiling t = tiling_of(s);
    const size_t x_each = (size_t)s->channels * (size_t)s->height * (size_t)s->width;
    const size_t y_each = (size_t)s->filters * (size_t)t.height * (size_t)t.width;

    for (size_t i = 0; i < (size_t)s->images; ++i)
        compute_image(s, &t, packed, bias, x + i * x_each, y + i * y_each, scratch);
}
#else
int winograd_suits(const convolution_shape *s)
{
    (void)s;
    return 0;
}
#endif
