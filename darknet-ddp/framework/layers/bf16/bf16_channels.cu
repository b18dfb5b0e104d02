#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#ifdef CUDNN
extern "C" {
#include "activations.h"
#include "batchnorm_layer.h"
#include "convolutional_layer.h"
#include "cuda.h"
#include "layers/bf16/bf16.h"
}
#include "layers/bf16/bf16_values.h"
#include "layers/channel_reduce.h"
#include "layers/normalizer.h"

// Launches the kernel for packs of as many values as the channels divide by.
#define BY_PACKS(channels, kernel, grid, block, ...)                                               \
    do {                                                                                           \
        if ((channels) % VALUES_A_PACK == 0)                                                       \
            kernel<VALUES_A_PACK><<<grid, block>>>(__VA_ARGS__);                                   \
        else                                                                                       \
            kernel<1><<<grid, block>>>(__VA_ARGS__);                                               \
        check_error(cudaPeekAtLastError());                                                        \
    } while (0)

/*
 * What batchnorm_kernels.cu and bias_kernels.cu do, on NHWC arrays of bf16: sums and statistics are
 * floats, in the same parts of the channels (channel_reduce.h) and in an order that follows from
 * the layer's sizes alone.
 *
 * A block has `lanes` threads side by side, each with a pack of channels, on THREADS/lanes rows; a
 * row is a cell.
 */
typedef struct {
    channel_shape channels;
    int count; // of rows
    int lanes, rows;
    int tiles; // blocks side by side
} tile_shape;

static int pack_size(layer l)
{
    return l.out_c % VALUES_A_PACK ? 1 : VALUES_A_PACK;
}

static tile_shape get_tiles(layer l)
{
    tile_shape s;
    int packs = l.out_c / pack_size(l);
    s.channels = get_channels(l);
    s.count = s.channels.count;
    s.lanes = 1;
    while (s.lanes < packs && s.lanes < 32)
        s.lanes *= 2;
    s.rows = THREADS / s.lanes;
    s.tiles = (packs - 1) / s.lanes + 1;
    return s;
}

#define ROWS_A_THREAD 8

// Blocks of a launch in which each value is another thread's business.
static size_t all_blocks(tile_shape s)
{
    return (size_t)s.tiles * ((s.count - 1) / (s.rows * ROWS_A_THREAD) + 1);
}

// The first channel of this thread's pack.
template <int V> static __device__ int first_channel(tile_shape s)
{
    return (blockIdx.x % s.tiles * s.lanes + threadIdx.x % s.lanes) * V;
}

// take(place of a pack) for this thread's rows, of those of all_blocks().
template <class Take> static __device__ void for_rows(tile_shape s, int channel, Take take)
{
    size_t row = (size_t)(blockIdx.x / s.tiles) * s.rows * ROWS_A_THREAD + threadIdx.x / s.lanes;
    if (channel >= s.channels.channels)
        return;
#pragma unroll 4
    for (int k = 0; k < ROWS_A_THREAD; ++k, row += s.rows)
        if (row < s.count)
            take(row * s.channels.channels + channel);
}

// The same for the rows of a part, where a launch has a block for each tile and part: rows of a
// channel's values are in the part that count_of_part() counts them in.
template <class Take> static __device__ void for_rows_of_part(tile_shape s, int channel, Take take)
{
    if (channel >= s.channels.channels)
        return;
    for (int first = (int)(blockIdx.x / s.tiles) * THREADS; first < s.count;
         first += s.channels.step) {
        for (int k = threadIdx.x / s.lanes; k < THREADS && first + k < s.count; k += s.rows) {
            take((size_t)(first + k) * s.channels.channels + channel);
        }
    }
}

// Of each channel the sum over a block's rows, in shared[0..lanes*V) on return; shared has
// THREADS*V.
template <int V> static __device__ void add_rows(tile_shape s, floats<V> sum, float *shared)
{
    int row = threadIdx.x / s.lanes;
    float *own = shared + threadIdx.x * V;
#pragma unroll
    for (int k = 0; k < V; ++k)
        own[k] = sum.v[k];
    for (int half = s.rows / 2; half > 0; half /= 2) {
        __syncthreads();
        if (row < half)
            for (int k = 0; k < V; ++k)
                own[k] += own[half * s.lanes * V + k];
    }
}

template <int V>
__global__ void moments_bf16_kernel(tile_shape s, const bf16 *x, float *means, float *squares)
{
    __shared__ float shared_mean[THREADS * V], shared_squares[THREADS * V];
    __shared__ float shared_count[THREADS];
    int id = threadIdx.x;
    int channel = first_channel<V>(s), part = blockIdx.x / s.tiles;
    int n = 0;
    floats<V> first = {}, sum = {}, sum_squares = {};

    // distances from a value of their own: sums of large values would drown their differences
    for_rows_of_part(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i);
        if (n++ == 0)
            first = value;
#pragma unroll
        for (int k = 0; k < V; ++k) {
            float d = value.v[k] - first.v[k];
            sum.v[k] += d;
            sum_squares.v[k] += d * d;
        }
    });
    shared_count[id] = n;
    for (int k = 0; k < V; ++k) {
        float squares_left = n ? sum_squares.v[k] - sum.v[k] * (sum.v[k] / n) : 0;
        shared_mean[id * V + k] = n ? first.v[k] + sum.v[k] / n : 0;
        shared_squares[id * V + k] = squares_left < 0 ? 0 : squares_left; // by rounding
    }
    for (int half = s.rows / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id / s.lanes >= half)
            continue;
        int other = id + half * s.lanes;
        moments m = {0, 0, 0};
        for (int k = 0; k < V; ++k) {
            moments a = {shared_count[id], shared_mean[id * V + k], shared_squares[id * V + k]};
            moments b = {shared_count[other], shared_mean[other * V + k],
                         shared_squares[other * V + k]};
            m = join_moments(a, b);
            shared_mean[id * V + k] = m.mean;
            shared_squares[id * V + k] = m.squares;
        }
        shared_count[id] = m.count;
    }
    if (id >= s.lanes || channel >= s.channels.channels)
        return;
    for (int k = 0; k < V; ++k) {
        means[part * s.channels.channels + channel + k] = shared_mean[id * V + k];
        squares[part * s.channels.channels + channel + k] = shared_squares[id * V + k];
    }
}

// Those of a thread's channels, so that rows need no division.
template <int V> struct normalizers {
    normalizer v[V];
};

template <int V>
static __device__ normalizers<V> get_normalizers(tile_shape s, int channel, const float *mean,
                                                 const float *variance, const float *scales,
                                                 const float *biases, curve activation)
{
    normalizers<V> n = {};
#pragma unroll
    for (int k = 0; k < V; ++k)
        if (channel < s.channels.channels)
            n.v[k] = get_normalizer(channel + k, mean, variance, scales, biases, activation);
    return n;
}

template <int V>
__global__ void normalize_bf16_kernel(tile_shape s, const bf16 *x, const float *mean,
                                      const float *variance, const float *scales,
                                      const float *biases, curve activation, bf16 *output)
{
    int channel = first_channel<V>(s);
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    for_rows(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            value.v[k] = value_on(activation, normalize(value.v[k], n.v[k]));
        store_pack<V>(output, i, value);
    });
}

template <int V>
__global__ void delta_sums_bf16_kernel(tile_shape s, const bf16 *x, const bf16 *delta,
                                       const float *mean, const float *variance,
                                       const float *scales, const float *biases, curve activation,
                                       float *sums, float *products)
{
    __shared__ float shared_sum[THREADS * V], shared_product[THREADS * V];
    int id = threadIdx.x;
    int channel = first_channel<V>(s), part = blockIdx.x / s.tiles;
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    floats<V> sum = {}, product = {};
    for_rows_of_part(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i), d = load_pack<V>(delta, i);
#pragma unroll
        for (int k = 0; k < V; ++k) {
            float behind = delta_behind(d.v[k], value.v[k], n.v[k]);
            sum.v[k] += behind;
            product.v[k] += behind * (value.v[k] - n.v[k].mean);
        }
    });
    add_rows<V>(s, sum, shared_sum);
    add_rows<V>(s, product, shared_product);
    if (id >= s.lanes || channel >= s.channels.channels)
        return;
    for (int k = 0; k < V; ++k) {
        sums[part * s.channels.channels + channel + k] = shared_sum[id * V + k];
        products[part * s.channels.channels + channel + k] = shared_product[id * V + k];
    }
}

template <int V>
__global__ void
input_delta_bf16_kernel(tile_shape s, const bf16 *x, const float *mean, const float *variance,
                        const float *scales, const float *biases, curve activation,
                        const float *mean_delta, const float *variance_delta, bf16 *delta)
{
    int channel = first_channel<V>(s);
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    floats<V> md = {}, vd = {};
    for (int k = 0; k < V; ++k) {
        if (channel >= s.channels.channels)
            break;
        md.v[k] = mean_delta[channel + k];
        vd.v[k] = variance_delta[channel + k];
    }
    for_rows(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i), d = load_pack<V>(delta, i);
#pragma unroll
        for (int k = 0; k < V; ++k) {
            float behind = delta_behind(d.v[k], value.v[k], n.v[k]);
            d.v[k] = n.v[k].scale * (behind + vd.v[k] * (value.v[k] - n.v[k].mean) + md.v[k]);
        }
        store_pack<V>(delta, i, d);
    });
}

// kept: where to leave what the activation takes, or 0
template <int V>
__global__ void add_bias_bf16_kernel(tile_shape s, const bf16 *made, const float *biases,
                                     curve curve, bf16 *output, bf16 *kept)
{
    int channel = first_channel<V>(s);
    floats<V> bias = {};
    for (int k = 0; k < V; ++k)
        if (channel < s.channels.channels)
            bias.v[k] = biases[channel + k];
    for_rows(s, channel, [&](size_t i) {
        floats<V> y = load_pack<V>(made, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            y.v[k] += bias.v[k];
        if (kept)
            store_pack<V>(kept, i, y);
#pragma unroll
        for (int k = 0; k < V; ++k)
            y.v[k] = value_on(curve, y.v[k]);
        store_pack<V>(output, i, y);
    });
}

// y: what the activation took, or gave where that tells as well
template <int V>
__global__ void add_bias_backward_bf16_kernel(tile_shape s, const bf16 *y, curve curve, bf16 *delta,
                                              float *sums)
{
    __shared__ float shared[THREADS * V];
    int id = threadIdx.x;
    int channel = first_channel<V>(s), part = blockIdx.x / s.tiles;
    floats<V> sum = {};
    for_rows_of_part(s, channel, [&](size_t i) {
        floats<V> d = load_pack<V>(delta, i);
        if (!is_straight(curve)) {
            floats<V> value = load_pack<V>(y, i);
#pragma unroll
            for (int k = 0; k < V; ++k)
                d.v[k] *= gradient_on(curve, value.v[k]);
            store_pack<V>(delta, i, d);
        }
#pragma unroll
        for (int k = 0; k < V; ++k)
            sum.v[k] += d.v[k];
    });
    add_rows<V>(s, sum, shared);
    if (id >= s.lanes || channel >= s.channels.channels)
        return;
    for (int k = 0; k < V; ++k)
        sums[part * s.channels.channels + channel + k] = shared[id * V + k];
}

int bf16_has_activation(ACTIVATION a)
{
    curve curve;
    return get_curve(a, &curve);
}

void bf16_normalize_gpu(layer l, network net)
{
    tile_shape s = get_tiles(l);
    const bf16 *x = (const bf16 *)l.bf16->x;
    const float *mean = net.train ? l.mean_gpu : l.rolling_mean_gpu;
    const float *variance = net.train ? l.variance_gpu : l.rolling_variance_gpu;
    curve activation;
    get_curve(l.activation, &activation);
    if (net.train) {
        BY_PACKS(l.out_c, moments_bf16_kernel, s.tiles * s.channels.parts, THREADS, s, x,
                 l.mean_delta_gpu, l.variance_delta_gpu);
        join_moments_gpu(l, net);
    }
    BY_PACKS(l.out_c, normalize_bf16_kernel, all_blocks(s), THREADS, s, x, mean, variance,
             l.scales_gpu, l.biases_gpu, activation, (bf16 *)l.bf16->output);
}

void bf16_normalize_backward_gpu(layer l, network net)
{
    tile_shape s = get_tiles(l);
    const bf16 *x = (const bf16 *)l.bf16->x;
    bf16 *delta = (bf16 *)l.bf16->delta;
    curve activation;
    get_curve(l.activation, &activation);
    if (!net.train) {
        l.mean_gpu = l.rolling_mean_gpu;
        l.variance_gpu = l.rolling_variance_gpu;
    }
    BY_PACKS(l.out_c, delta_sums_bf16_kernel, s.tiles * s.channels.parts, THREADS, s, x, delta,
             l.mean_gpu, l.variance_gpu, l.scales_gpu, l.biases_gpu, activation, l.mean_delta_gpu,
             l.variance_delta_gpu);
    join_delta_sums_gpu(l, net);
    BY_PACKS(l.out_c, input_delta_bf16_kernel, all_blocks(s), THREADS, s, x, l.mean_gpu,
             l.variance_gpu, l.scales_gpu, l.biases_gpu, activation, l.mean_delta_gpu,
             l.variance_delta_gpu, delta);
}

void bf16_add_bias_gpu(layer l)
{
    tile_shape s = get_tiles(l);
    bf16 *x = (bf16 *)l.bf16->x, *output = (bf16 *)l.bf16->output;
    curve curve;
    get_curve(l.activation, &curve);
    BY_PACKS(l.out_c, add_bias_bf16_kernel, all_blocks(s), THREADS, s, x ? x : output, l.biases_gpu,
             curve, output, x);
}

void bf16_add_bias_backward_gpu(layer l)
{
    tile_shape s = get_tiles(l);
    const bf16 *y = (const bf16 *)(l.bf16->x ? l.bf16->x : l.bf16->output);
    curve curve;
    get_curve(l.activation, &curve);
    BY_PACKS(l.out_c, add_bias_backward_bf16_kernel, s.tiles * s.channels.parts, THREADS, s, y,
             curve, (bf16 *)l.bf16->delta, l.mean_delta_gpu);
    add_bias_updates_gpu(l);
}
#endif
