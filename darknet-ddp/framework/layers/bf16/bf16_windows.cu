#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#ifdef CUDNN
extern "C" {
#include "activations.h"
#include "cuda.h"
#include "layers/bf16/bf16_cuda.h"
}
#include "layers/bf16/bf16_values.h"
#include "layers/channel_reduce.h"

// ---- [maxpool] ----

typedef struct {
    int channels, w, h, out_w, out_h;
    int size, stride_x, stride_y, offset; // of a window's first pixel from its place
} window_shape;

static window_shape get_windows(layer l)
{
    window_shape s = {l.c, l.w, l.h, l.out_w, l.out_h, l.size, l.stride_x, l.stride_y, -l.pad / 2};
    return s;
}

// Indexes are those of the input's values.
template <int V>
__global__ void maxpool_kernel(size_t n, window_shape s, const bf16 *input, bf16 *output,
                               int *indexes)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = s.channels / V;
    int cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % s.out_w, i = cell / s.out_w % s.out_h, b = cell / s.out_w / s.out_h;
    floats<V> most;
    int at[V];
    for (int k = 0; k < V; ++k) {
        most.v[k] = -INFINITY;
        at[k] = -1;
    }
    for (int y = i * s.stride_y + s.offset, l = 0; l < s.size; ++l, ++y) {
        for (int x = j * s.stride_x + s.offset, m = 0; m < s.size; ++m, ++x) {
            if (y < 0 || y >= s.h || x < 0 || x >= s.w)
                continue;
            size_t index = ((size_t)(b * s.h + y) * s.w + x) * s.channels + channel;
            floats<V> value = load_pack<V>(input, index);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                if (!(value.v[k] > most.v[k]) && at[k] >= 0)
                    continue; // the first also where none is greater, as of NaN
                most.v[k] = value.v[k];
                at[k] = index + k;
            }
        }
    }
    size_t first = (size_t)cell * s.channels + channel;
    store_pack<V>(output, first, most);
    for (int k = 0; k < V; ++k)
        indexes[first + k] = at[k];
}

// A thread for each pack of the input, which looks into the windows that it may be in.
template <int V>
__global__ void maxpool_backward_kernel(size_t n, window_shape s, const bf16 *delta,
                                        const int *indexes, int set, bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = s.channels / V;
    int cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % s.w, i = cell / s.w % s.h, b = cell / s.w / s.h;
    int first = (size_t)cell * s.channels + channel;
    int area_x = (s.size - 1) / s.stride_x, area_y = (s.size - 1) / s.stride_y;
    int near_x = (j - s.offset) / s.stride_x, near_y = (i - s.offset) / s.stride_y;
    floats<V> sum = {};
    for (int y = near_y - area_y; y <= near_y + area_y; ++y) {
        for (int x = near_x - area_x; x <= near_x + area_x; ++x) {
            if (y < 0 || y >= s.out_h || x < 0 || x >= s.out_w)
                continue;
            size_t out = ((size_t)(b * s.out_h + y) * s.out_w + x) * s.channels + channel;
            floats<V> d = load_pack<V>(delta, out);
#pragma unroll
            for (int k = 0; k < V; ++k)
                if (indexes[out + k] == first + k)
                    sum.v[k] += d.v[k];
        }
    }
    set_or_add_pack<V>(input_delta, first, sum, set);
}

void bf16_maxpool_gpu(layer l, const void *input)
{
    size_t packs = count_packs((size_t)l.outputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        maxpool_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, get_windows(l), (const bf16 *)input, (bf16 *)l.bf16->output, l.indexes_gpu);
    });
}

void bf16_maxpool_backward_gpu(layer l, int set, void *delta)
{
    size_t packs = count_packs((size_t)l.inputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        maxpool_backward_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, get_windows(l), (const bf16 *)l.bf16->delta, l.indexes_gpu, set, (bf16 *)delta);
    });
}

// ---- [upsample] ----

template <int V>
__global__ void upsample_bf16_kernel(size_t n, int channels, int w, int h, int stride, float scale,
                                     const bf16 *input, bf16 *output)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % (w * stride), i = cell / (w * stride) % (h * stride);
    unsigned b = cell / (w * stride) / (h * stride);
    floats<V> value =
        load_pack<V>(input, ((b * h + i / stride) * w + j / stride) * channels + channel);
    for (int k = 0; k < V; ++k)
        value.v[k] *= scale;
    store_pack<V>(output, (size_t)id * V, value);
}

template <int V>
__global__ void upsample_backward_bf16_kernel(size_t n, int channels, int w, int h, int stride,
                                              float scale, const bf16 *delta, int set,
                                              bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % w, i = cell / w % h;
    unsigned b = cell / w / h;
    floats<V> sum = {};
    for (int y = 0; y < stride; ++y) {
        for (int x = 0; x < stride; ++x) {
            floats<V> d = load_pack<V>(
                delta, ((b * h * stride + i * stride + y) * w * stride + j * stride + x) * channels
                           + channel);
            for (int k = 0; k < V; ++k)
                sum.v[k] += d.v[k];
        }
    }
    for (int k = 0; k < V; ++k)
        sum.v[k] *= scale;
    set_or_add_pack<V>(input_delta, (size_t)id * V, sum, set);
}

void bf16_upsample_gpu(layer l, const void *input)
{
    size_t packs = count_packs((size_t)l.outputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        upsample_bf16_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, l.c, l.w, l.h, l.stride, l.scale, (const bf16 *)input, (bf16 *)l.bf16->output);
    });
}

void bf16_upsample_backward_gpu(layer l, int set, void *delta)
{
    size_t packs = count_packs((size_t)l.inputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        upsample_backward_bf16_kernel<decltype(v)::value>
            <<<cuda_gridsize(packs), BLOCK>>>(packs, l.c, l.w, l.h, l.stride, l.scale,
                                              (const bf16 *)l.bf16->delta, set, (bf16 *)delta);
    });
}

// ---- [avgpool] ----

template <int V>
__global__ void avgpool_bf16_kernel(size_t n, int channels, int cells, const bf16 *input,
                                    bf16 *output)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, b = id / packs;
    int channel = (id - b * packs) * V;
    floats<V> sum = {};
    for (int i = 0; i < cells; ++i) {
        floats<V> value = load_pack<V>(input, (b * cells + i) * channels + channel);
        for (int k = 0; k < V; ++k)
            sum.v[k] += value.v[k];
    }
    for (int k = 0; k < V; ++k)
        sum.v[k] /= cells;
    store_pack<V>(output, (size_t)id * V, sum);
}

template <int V>
__global__ void avgpool_backward_bf16_kernel(size_t n, int channels, int cells, const bf16 *delta,
                                             int set, bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    floats<V> d = load_pack<V>(delta, cell / cells * channels + channel);
    for (int k = 0; k < V; ++k)
        d.v[k] /= cells;
    set_or_add_pack<V>(input_delta, (size_t)id * V, d, set);
}

void bf16_avgpool_gpu(layer l, const void *input)
{
    size_t packs = count_packs((size_t)l.outputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        avgpool_bf16_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, l.c, l.w * l.h, (const bf16 *)input, (bf16 *)l.bf16->output);
    });
}

void bf16_avgpool_backward_gpu(layer l, int set, void *delta)
{
    size_t packs = count_packs((size_t)l.inputs * l.batch, l.c);
    by_packs(l.c, [&](auto v) {
        avgpool_backward_bf16_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, l.c, l.w * l.h, (const bf16 *)l.bf16->delta, set, (bf16 *)delta);
    });
}
#endif
