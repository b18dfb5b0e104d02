#include "layers/bf16/host.h"

#include "blas.h"

/*
 * [scale_channels] and [sam]: products of an image and its scales. Scales lie in rows. With [sam]
 * each cell has a row of its own. With [scale_channels] all cells of an image share a row or, with
 * scale_wh=1, each cell has a row of one number, which serves all its channels.
 */

static size_t row_channels(layer l)
{
    return (size_t)l.c;
}

static size_t cells_of_row(layer l)
{
    return (size_t)(l.out_w * l.out_h) / (size_t)(l.w * l.h);
}

static size_t rows_of(layer l)
{
    return (size_t)(l.w * l.h) * (size_t)l.batch;
}

// The scales of n channels from c on, in floats.
static void get_scales(layer l, size_t row, size_t c, size_t n, const half *scales, float *to)
{
    if (row_channels(l) > 1 || l.out_c == 1) {
        floats_of_halves(n, scales + row * row_channels(l) + c, to);
        return;
    }
    for (size_t k = 0; k < n; ++k)
        to[k] = half_to_float(scales[row]);
}

VECTORIZE
static void multiply(size_t n, const half *restrict x, const float *restrict scales,
                     float *restrict y)
{
    for (size_t k = 0; k < n; ++k)
        y[k] = half_to_float(x[k]) * scales[k];
}

// sum += delta * x; delta *= scales
VECTORIZE
static void multiply_backward(size_t n, const half *restrict x, const float *restrict scales,
                              float *restrict delta, float *restrict sum)
{
    for (size_t k = 0; k < n; ++k) {
        sum[k] += delta[k] * half_to_float(x[k]);
        delta[k] *= scales[k];
    }
}

static size_t block_at(layer l, size_t c)
{
    size_t left = (size_t)l.out_c - c;
    return left < BF16_BLOCK ? left : BF16_BLOCK;
}

// A block of channels of the cells that share a row of scales.
static void multiply_block(layer l, size_t row, size_t c, const half *x, const half *scales)
{
    float scale[BF16_BLOCK], y[BF16_BLOCK];
    size_t n = block_at(l, c), cells = cells_of_row(l);
    get_scales(l, row, c, n, scales, scale);
    for (size_t i = row * cells; i < (row + 1) * cells; ++i) {
        size_t at = i * (size_t)l.out_c + c;
        multiply(n, x + at, scale, y);
        bf16_host_activate(l, n, at, y);
    }
}

void bf16_host_multiply(layer l, const void *x, const void *scales)
{
    for (size_t row = 0; row < rows_of(l); ++row)
        for (size_t c = 0; c < (size_t)l.out_c; c += BF16_BLOCK)
            multiply_block(l, row, c, x, scales);
}

// sum: of what the block's channels give the scales, in the order of cells
static void backward_block(layer l, size_t row, size_t c, const half *x, const half *scales,
                           int set_x, half *x_delta, float *sum)
{
    float scale[BF16_BLOCK], delta[BF16_BLOCK];
    size_t n = block_at(l, c), cells = cells_of_row(l);
    get_scales(l, row, c, n, scales, scale);
    for (size_t i = row * cells; i < (row + 1) * cells; ++i) {
        size_t at = i * (size_t)l.out_c + c;
        bf16_host_gradient(l, n, at, delta);
        multiply_backward(n, x + at, scale, delta, sum);
        if (x_delta)
            bf16_set_or_add(n, delta, set_x, x_delta + at);
    }
}

void bf16_host_multiply_backward(layer l, const void *x, const void *scales, int set_x,
                                 void *x_delta, int set_scales, void *scales_delta)
{
    int is_one = row_channels(l) == 1;
    for (size_t row = 0; row < rows_of(l); ++row) {
        float all = 0;
        for (size_t c = 0; c < (size_t)l.out_c; c += BF16_BLOCK) {
            float sum[BF16_BLOCK] = {0};
            size_t n = block_at(l, c);
            backward_block(l, row, c, x, scales, set_x, x_delta, sum);
            for (size_t k = 0; is_one && k < n; ++k)
                all += sum[k];
            if (scales_delta && !is_one)
                bf16_set_or_add(n, sum, set_scales,
                                (half *)scales_delta + row * row_channels(l) + c);
        }
        if (scales_delta && is_one)
            bf16_set_or_add(1, &all, set_scales, (half *)scales_delta + row);
    }
}
