#include "layers/bf16/host.h"

#include "blas.h"

#include <math.h>

/*
 * Layers without parameters. Loops find a window, place or cell once for all its channels, which
 * lie side by side.
 */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// ---- [maxpool] ----

// The pixels of a row or column, of `side`, that place i's window reads: from *first to *end.
static void window_of(int i, int stride, int offset, int size, int side, int *first, int *end)
{
    *first = i * stride + offset;
    *end = *first + size < side ? *first + size : side;
    *first = *first > 0 ? *first : 0;
}

VECTORIZE
static void take_larger(int n, const half *restrict from, int index, half *restrict most,
                        int *restrict indexes)
{
    for (int k = 0; k < n; ++k) {
        int is_larger = half_to_float(from[k]) > half_to_float(most[k]);
        indexes[k] = is_larger ? index + k : indexes[k];
        most[k] = is_larger ? from[k] : most[k];
    }
}

// The first pixel also where none is larger, as of NaN.
static void take_first(int n, const half *from, int index, half *most, int *indexes)
{
    memcpy(most, from, (size_t)n * sizeof(half));
    for (int k = 0; k < n; ++k)
        indexes[k] = index + k;
}

// Place (i, j) of image b.
static void pool_window(layer l, int b, int i, int j, const half *input)
{
    int x, y, x_first, x_end, y_first, y_end, offset = -l.pad / 2;
    size_t out = (size_t)((b * l.out_h + i) * l.out_w + j) * (size_t)l.c;
    half *most = (half *)l.bf16->output + out;
    window_of(i, l.stride_y, offset, l.size, l.h, &y_first, &y_end);
    window_of(j, l.stride_x, offset, l.size, l.w, &x_first, &x_end);
    for (y = y_first; y < y_end; ++y) {
        for (x = x_first; x < x_end; ++x) {
            int index = ((b * l.h + y) * l.w + x) * l.c;
            (y == y_first && x == x_first ? take_first : take_larger)(l.c, input + index, index,
                                                                      most, l.indexes + out);
        }
    }
}

void bf16_host_maxpool(layer l, const void *input)
{
    int b, i, j;
    for (b = 0; b < l.batch; ++b)
        for (i = 0; i < l.out_h; ++i)
            for (j = 0; j < l.out_w; ++j)
                pool_window(l, b, i, j, input);
}

VECTORIZE
static void add_if_chosen(int n, const half *restrict delta, const int *restrict indexes, int index,
                          float *restrict sum)
{
    for (int k = 0; k < n; ++k)
        sum[k] += indexes[k] == index + k ? half_to_float(delta[k]) : 0;
}

// The places whose windows have pixel i: from *first to *end.
static void places_of(int i, int stride, int offset, int size, int places, int *first, int *end)
{
    int reach = i - offset - size;
    *first = reach < 0 ? 0 : reach / stride + 1;
    *end = (i - offset) / stride + 1 < places ? (i - offset) / stride + 1 : places;
}

// The channels from `first` of pixel (x, y) of image b.
static void gather_pixel(layer l, int b, int y, int x, int first, int channels, int set, half *to)
{
    float sum[BF16_BLOCK] = {0};
    int i, j, i_first, i_end, j_first, j_end, offset = -l.pad / 2;
    int index = ((b * l.h + y) * l.w + x) * l.c + first;
    places_of(y, l.stride_y, offset, l.size, l.out_h, &i_first, &i_end);
    places_of(x, l.stride_x, offset, l.size, l.out_w, &j_first, &j_end);
    for (i = i_first; i < i_end; ++i) {
        for (j = j_first; j < j_end; ++j) {
            size_t out = (size_t)((b * l.out_h + i) * l.out_w + j) * (size_t)l.c + (size_t)first;
            add_if_chosen(channels, (const half *)l.bf16->delta + out, l.indexes + out, index, sum);
        }
    }
    bf16_set_or_add((size_t)channels, sum, set, to + index);
}

void bf16_host_maxpool_backward(layer l, int set, void *delta)
{
    int b, x, y, k;
    for (b = 0; b < l.batch; ++b)
        for (y = 0; y < l.h; ++y)
            for (x = 0; x < l.w; ++x)
                for (k = 0; k < l.c; k += BF16_BLOCK)
                    gather_pixel(l, b, y, x, k, l.c - k < BF16_BLOCK ? l.c - k : BF16_BLOCK, set,
                                 delta);
}

// ---- sums of rows, for [upsample] and [avgpool] ----

VECTORIZE
static void add_row(size_t n, const half *restrict from, float *restrict sum)
{
    for (size_t k = 0; k < n; ++k)
        sum[k] += half_to_float(from[k]);
}

VECTORIZE
static void scale_row(size_t n, float scale, float *restrict x)
{
    for (size_t k = 0; k < n; ++k)
        x[k] *= scale;
}

// Give scale times the sum of a block of h x w cells of an image that is `width` cells wide.
static void give_sum(size_t channels, const half *from, int h, int w, size_t width, float scale,
                     int set, half *to)
{
    for (size_t c = 0; c < channels; c += BF16_BLOCK) {
        float sum[BF16_BLOCK] = {0};
        size_t some = smaller(BF16_BLOCK, channels - c);
        for (int i = 0; i < h; ++i)
            for (int j = 0; j < w; ++j)
                add_row(some, from + ((size_t)i * width + (size_t)j) * channels + c, sum);
        scale_row(some, scale, sum);
        bf16_set_or_add(some, sum, set, to + c);
    }
}

void bf16_host_upsample(layer l, const void *input)
{
    int i, j;
    for (i = 0; i < l.batch * l.out_h; ++i)
        for (j = 0; j < l.out_w; ++j)
            give_sum(
                (size_t)l.c,
                (const half *)input + (size_t)(i / l.stride * l.w + j / l.stride) * (size_t)l.c, 1,
                1, 1, l.scale, 1, (half *)l.bf16->output + (size_t)(i * l.out_w + j) * (size_t)l.c);
}

void bf16_host_upsample_backward(layer l, int set, void *delta)
{
    int i, j;
    for (i = 0; i < l.batch * l.h; ++i)
        for (j = 0; j < l.w; ++j)
            give_sum((size_t)l.c,
                     (const half *)l.bf16->delta
                         + (size_t)(i * l.stride * l.out_w + j * l.stride) * (size_t)l.c,
                     l.stride, l.stride, (size_t)l.out_w, l.scale, set,
                     (half *)delta + (size_t)(i * l.w + j) * (size_t)l.c);
}

void bf16_host_avgpool(layer l, const void *input)
{
    int b;
    for (b = 0; b < l.batch; ++b)
        give_sum((size_t)l.c, (const half *)input + (size_t)(b * l.h * l.w) * (size_t)l.c, l.h, l.w,
                 (size_t)l.w, 1.F / (float)(l.h * l.w), 1,
                 (half *)l.bf16->output + (size_t)b * (size_t)l.c);
}

void bf16_host_avgpool_backward(layer l, int set, void *delta)
{
    int i, cells = l.h * l.w;
    for (i = 0; i < l.batch * cells; ++i)
        give_sum((size_t)l.c, (const half *)l.bf16->delta + (size_t)(i / cells) * (size_t)l.c, 1, 1,
                 1, 1.F / (float)cells, set, (half *)delta + (size_t)i * (size_t)l.c);
}

// ---- [route] ----

void bf16_host_copy_channels(size_t cells, int channels, const void *from, int from_channels,
                             int first_from, int set, void *to, int to_channels, int first_to)
{
    size_t n = (size_t)channels;
    for (size_t i = 0; i < cells; ++i) {
        const half *source = (const half *)from + i * (size_t)from_channels + first_from;
        half *target = (half *)to + i * (size_t)to_channels + first_to;
        if (set)
            memcpy(target, source, n * sizeof(half));
        else
            add_halves(n, source, target);
    }
}

// ---- [shortcut] ----

VECTORIZE
static void weigh(size_t n, float scale, const half *restrict from, int set, float *restrict to)
{
    for (size_t k = 0; k < n; ++k)
        to[k] = scale * half_to_float(from[k]) + (set ? 0 : to[k]);
}

long bf16_host_shortcut_place(layer l, int i)
{
    int stride = l.w / l.out_w > 1 ? l.w / l.out_w : 1;
    int sample = l.out_w / l.w > 1 ? l.out_w / l.w : 1;
    int x = i % l.out_w, y = i / l.out_w % l.out_h, b = i / l.out_w / l.out_h;
    if (x % sample || y % sample)
        return -1;
    x = x / sample * stride;
    y = y / sample * stride;
    return x < l.w && y < l.h ? (long)((b * l.h + y) * l.w + x) * l.c : -1;
}

size_t bf16_host_shortcut_channels(layer l)
{
    return (size_t)(l.c < l.out_c ? l.c : l.out_c);
}

static size_t cells_of(layer l)
{
    return (size_t)l.out_w * (size_t)l.out_h * (size_t)l.batch;
}

// alpha scales only values that meet one of the other layer, as in shortcut_cpu.
void bf16_host_shortcut(layer l, const void *input, float alpha, const void *from)
{
    size_t channels = (size_t)l.out_c, common = bf16_host_shortcut_channels(l);
    for (size_t i = 0; i < cells_of(l); ++i) {
        long source = bf16_host_shortcut_place(l, (int)i);
        for (size_t c = 0; c < channels; c += BF16_BLOCK) {
            float y[BF16_BLOCK] = {0};
            size_t some = smaller(BF16_BLOCK, channels - c), at = i * channels + c;
            size_t met = source >= 0 && c < common ? smaller(some, common - c) : 0;
            if (input) {
                weigh(met, alpha, (const half *)input + at, 1, y);
                weigh(some - met, 1, (const half *)input + at + met, 1, y + met);
            }
            if (met)
                weigh(met, l.beta, (const half *)from + source + c, 0, y);
            bf16_host_activate(l, some, at, y);
        }
    }
}

int bf16_host_shortcut_begin(layer l, int set_from, void *from_delta)
{
    int meets_all = l.w <= l.out_w && l.h <= l.out_h && l.c <= l.out_c;
    if (!from_delta || !set_from || meets_all)
        return set_from;
    memset(from_delta, 0, (size_t)(l.w * l.h * l.c) * (size_t)l.batch * sizeof(half));
    return 0;
}

void bf16_host_shortcut_backward(layer l, float alpha, int set, void *input_delta, int set_from,
                                 void *from_delta)
{
    size_t channels = (size_t)l.out_c, common = bf16_host_shortcut_channels(l);
    float delta[BF16_BLOCK], given[BF16_BLOCK];
    set_from = bf16_host_shortcut_begin(l, set_from, from_delta);
    for (size_t i = 0; i < cells_of(l); ++i) {
        long source = from_delta ? bf16_host_shortcut_place(l, (int)i) : -1;
        for (size_t c = 0; c < channels; c += BF16_BLOCK) {
            size_t some = smaller(BF16_BLOCK, channels - c), at = i * channels + c;
            bf16_host_gradient(l, some, at, delta);
            memcpy(given, delta, some * sizeof(float));
            scale_row(some, alpha, given);
            if (input_delta)
                bf16_set_or_add(some, given, set, (half *)input_delta + at);
            if (source < 0 || c >= common)
                continue;
            scale_row(some, l.beta, delta);
            bf16_set_or_add(smaller(some, common - c), delta, set_from,
                            (half *)from_delta + source + c);
        }
    }
}
