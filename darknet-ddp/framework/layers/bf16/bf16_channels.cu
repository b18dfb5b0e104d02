#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#ifdef CUDNN
extern "C" {
#include "activations.h"
#include "batchnorm_layer.h"
#include "convolutional_layer.h"
#include "cuda.h"
#include "layers/bf16/bf16_cuda.h"
}
#include "layers/bf16/bf16_fused.h"
#include "layers/bf16/bf16_tiles.h"
#include "layers/channel_reduce.h"
#include "layers/normalizer.h"

/*
 * Kernels that do on NHWC arrays of bf16 what batchnorm_kernels.cu and bias_kernels.cu do on arrays
 * of floats. Sums and statistics are floats. A channel is summed in parts, which are then joined as
 * channel_reduce.h does it.
 */

// Threads that join a channel's parts.
#define JOIN_ROWS 32

size_t bf16_sums_bytes(layer l)
{
    return 2 * (size_t)get_tiles(l).parts * l.out_c * sizeof(float);
}

// The sums that parts leave are in the workspace, which no convolution uses meanwhile.
static part_sums get_sums(tile_shape s, network net)
{
    float *sums = net.workspace;
    part_sums p = {
        s.channels, s.parts, s.count, s.rows, s.step, sums, sums + (size_t)s.parts * s.channels,
        JOIN_ROWS};
    return p;
}

// The input of BatchNorm, and what was loaded to make the delta of its output of.
template <int V, class Delta> struct pack_and_delta {
    pack<V> x;
    Delta delta;
};

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
    auto load = [&](size_t i) { return pack_at<V>(x, i); };
    for_rows_of_part<VALUES_AT_ONCE>(s, channel, load, [&](size_t, pack<V> values) {
        floats<V> value = unpacked(values);
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
    if (id >= s.lanes || channel >= s.channels)
        return;
    for (int k = 0; k < V; ++k) {
        means[part * s.channels + channel + k] = shared_mean[id * V + k];
        squares[part * s.channels + channel + k] = shared_squares[id * V + k];
    }
}

// The normalizers of a thread's channels, so that rows need no division.
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
        if (channel < s.channels)
            n.v[k] = get_normalizer(channel + k, mean, variance, scales, biases, activation);
    return n;
}

template <int V, int KIND, class Output>
__global__ void normalize_bf16_kernel(tile_shape s, const bf16 *x, const float *mean,
                                      const float *variance, const float *scales,
                                      const float *biases, curve activation, Output of,
                                      bf16 *output)
{
    activation = known_curve<KIND>(activation);
    int channel = first_channel<V>(s);
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    for_rows(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            value.v[k] = apply_curve(activation, normalize(value.v[k], n.v[k]));
        store_pack<V>(output, i, of(value, i));
    });
}

template <int V, int KIND, class Delta>
__global__ void delta_sums_bf16_kernel(tile_shape s, const bf16 *x, Delta delta, const float *mean,
                                       const float *variance, const float *scales,
                                       const float *biases, curve activation, float *sums,
                                       float *products)
{
    activation = known_curve<KIND>(activation);
    __shared__ float shared_sum[THREADS * V], shared_product[THREADS * V];
    int id = threadIdx.x;
    int channel = first_channel<V>(s), part = blockIdx.x / s.tiles;
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    floats<V> sum = {}, product = {};
    typedef pack_and_delta<V, decltype(delta.template load<V>(0))> loaded;
    auto load = [&](size_t i) { return loaded{pack_at<V>(x, i), delta.template load<V>(i)}; };
    for_rows_of_part<Delta::AT_ONCE>(s, channel, load, [&](size_t i, loaded both) {
        floats<V> value = unpacked(both.x), d = delta.take(i, both.delta);
#pragma unroll
        for (int k = 0; k < V; ++k) {
            float behind = activation_input_delta(d.v[k], value.v[k], n.v[k]);
            sum.v[k] += behind;
            product.v[k] += behind * (value.v[k] - n.v[k].mean);
        }
    });
    add_rows<V>(s, sum, shared_sum);
    add_rows<V>(s, product, shared_product);
    if (id >= s.lanes || channel >= s.channels)
        return;
    for (int k = 0; k < V; ++k) {
        sums[part * s.channels + channel + k] = shared_sum[id * V + k];
        products[part * s.channels + channel + k] = shared_product[id * V + k];
    }
}

// from: what the delta is made of, and may be of
template <int V, int KIND, class Delta>
__global__ void input_delta_bf16_kernel(tile_shape s, const bf16 *x, const float *mean,
                                        const float *variance, const float *scales,
                                        const float *biases, curve activation,
                                        const float *mean_delta, const float *variance_delta,
                                        Delta from, bf16 *delta)
{
    activation = known_curve<KIND>(activation);
    int channel = first_channel<V>(s);
    normalizers<V> n = get_normalizers<V>(s, channel, mean, variance, scales, biases, activation);
    floats<V> md = {}, vd = {};
    for (int k = 0; k < V; ++k) {
        if (channel >= s.channels)
            break;
        md.v[k] = mean_delta[channel + k];
        vd.v[k] = variance_delta[channel + k];
    }
    for_rows(s, channel, [&](size_t i) {
        floats<V> value = load_pack<V>(x, i), d = from.take(i, from.template load<V>(i));
#pragma unroll
        for (int k = 0; k < V; ++k) {
            float behind = activation_input_delta(d.v[k], value.v[k], n.v[k]);
            d.v[k] = n.v[k].scale * (behind + vd.v[k] * (value.v[k] - n.v[k].mean) + md.v[k]);
        }
        store_pack<V>(delta, i, d);
    });
}

// kept: where to leave what the activation takes, or 0
template <int V, int KIND>
__global__ void add_bias_bf16_kernel(tile_shape s, const bf16 *made, const float *biases,
                                     curve curve, bf16 *output, bf16 *kept)
{
    curve = known_curve<KIND>(curve);
    int channel = first_channel<V>(s);
    floats<V> bias = {};
    for (int k = 0; k < V; ++k)
        if (channel < s.channels)
            bias.v[k] = biases[channel + k];
    for_rows(s, channel, [&](size_t i) {
        floats<V> y = load_pack<V>(made, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            y.v[k] += bias.v[k];
        store_activated<V>(curve, y, i, output, kept);
    });
}

// y: what the activation took, or gave where that tells as well
template <int V, int KIND>
__global__ void add_bias_backward_bf16_kernel(tile_shape s, const bf16 *y, curve curve, bf16 *delta,
                                              float *sums)
{
    curve = known_curve<KIND>(curve);
    __shared__ float shared[THREADS * V];
    int id = threadIdx.x;
    int channel = first_channel<V>(s), part = blockIdx.x / s.tiles;
    floats<V> sum = {};
    auto load = [&](size_t i) {
        pack<V> d = pack_at<V>(delta, i);
        return two_packs<V>{is_identity(curve) ? d : pack_at<V>(y, i), d};
    };
    for_rows_of_part<VALUES_AT_ONCE>(s, channel, load, [&](size_t i, two_packs<V> both) {
        floats<V> d = unpacked(both.delta);
        if (!is_identity(curve)) {
            floats<V> value = unpacked(both.x);
#pragma unroll
            for (int k = 0; k < V; ++k)
                d.v[k] *= curve_gradient(curve, value.v[k]);
            store_pack<V>(delta, i, d);
        }
#pragma unroll
        for (int k = 0; k < V; ++k)
            sum.v[k] += d.v[k];
    });
    add_rows<V>(s, sum, shared);
    if (id >= s.lanes || channel >= s.channels)
        return;
    for (int k = 0; k < V; ++k)
        sums[part * s.channels + channel + k] = shared[id * V + k];
}

int bf16_has_activation_gpu(ACTIVATION a)
{
    curve curve;
    return get_curve(a, &curve);
}

static void measure(layer l, network net)
{
    tile_shape s = get_tiles(l);
    const bf16 *x = (const bf16 *)l.bf16->x;
    part_sums p = get_sums(s, net);
    if (pack_size(l) == 1)
        moments_bf16_kernel<1><<<blocks_of_parts(s), THREADS>>>(s, x, p.first, p.second);
    else
        moments_bf16_kernel<VALUES_A_PACK>
            <<<blocks_of_parts(s), THREADS>>>(s, x, p.first, p.second);
    check_error(cudaPeekAtLastError());
    join_moments_gpu(l, net, p);
}

// train: by the mini-batch's statistics, not the running ones
template <class Output> static void normalize_to(layer l, int train, Output of, void *output)
{
    tile_shape s = get_tiles(l);
    const float *mean = train ? l.mean_gpu : l.rolling_mean_gpu;
    const float *variance = train ? l.variance_gpu : l.rolling_variance_gpu;
    curve activation;
    get_curve(l.activation, &activation);
    by_packs_and_kind(l.out_c, activation, [&](auto v, auto kind) {
        normalize_bf16_kernel<decltype(v)::value, decltype(kind)::value, Output>
            <<<all_blocks(s), THREADS>>>(s, (const bf16 *)l.bf16->x, mean, variance, l.scales_gpu,
                                         l.biases_gpu, activation, of, (bf16 *)output);
    });
}

void bf16_normalize_gpu(layer l, network net)
{
    if (net.train)
        measure(l, net);
    normalize_to(l, net.train, own_output(), l.bf16->output);
}

void bf16_normalize_and_add_gpu(layer l, network net, layer shortcut, float alpha, const void *from)
{
    curve curve;
    get_curve(shortcut.activation, &curve);
    shortcut_output of = {(const bf16 *)from, alpha, shortcut.beta, curve.slope};
    if (net.train)
        measure(l, net);
    normalize_to(l, net.train, of, shortcut.bf16->output);
}

void bf16_recompute_output_gpu(layer l, void *output)
{
    normalize_to(l, l.bf16->trained, own_output(), output);
}

// The delta is made twice: for the sums, and again for what follows from them.
template <class Delta>
static void normalize_backward(layer l, network net, Delta first, Delta again)
{
    tile_shape s = get_tiles(l);
    const bf16 *x = (const bf16 *)l.bf16->x;
    part_sums p = get_sums(s, net);
    curve activation;
    get_curve(l.activation, &activation);
    if (!net.train) {
        l.mean_gpu = l.rolling_mean_gpu;
        l.variance_gpu = l.rolling_variance_gpu;
    }
    by_packs_and_kind(l.out_c, activation, [&](auto v, auto kind) {
        delta_sums_bf16_kernel<decltype(v)::value, decltype(kind)::value, Delta>
            <<<blocks_of_parts(s), THREADS>>>(s, x, first, l.mean_gpu, l.variance_gpu, l.scales_gpu,
                                              l.biases_gpu, activation, p.first, p.second);
    });
    join_delta_sums_gpu(l, net, p);
    by_packs_and_kind(l.out_c, activation, [&](auto v, auto kind) {
        input_delta_bf16_kernel<decltype(v)::value, decltype(kind)::value, Delta>
            <<<all_blocks(s), THREADS>>>(s, x, l.mean_gpu, l.variance_gpu, l.scales_gpu,
                                         l.biases_gpu, activation, l.mean_delta_gpu,
                                         l.variance_delta_gpu, again, (bf16 *)l.bf16->delta);
    });
}

void bf16_normalize_backward_gpu(layer l, network net)
{
    own_delta delta = {(const bf16 *)l.bf16->delta};
    normalize_backward(l, net, delta, delta);
}

void bf16_normalize_and_add_backward_gpu(layer l, network net, layer shortcut, float alpha,
                                         int set_from, void *from_delta)
{
    bf16_arrays *a = shortcut.bf16;
    curve curve;
    get_curve(shortcut.activation, &curve);
    const bf16 *output = is_identity(curve) ? 0 : (const bf16 *)a->output;
    shortcut_delta first = {(const bf16 *)a->delta, output,  curve.slope, alpha, shortcut.beta,
                            (bf16 *)from_delta,     set_from};
    shortcut_delta again = first;
    again.from_delta = 0;
    if (set_from && alpha == shortcut.beta) { // what was just given is the same: one array less
        again.delta = (const bf16 *)from_delta;
        again.output = 0;
        again.alpha = 1;
    }
    normalize_backward(l, net, first, again);
}

void bf16_add_bias_gpu(layer l)
{
    tile_shape s = get_tiles(l);
    bf16 *x = (bf16 *)l.bf16->x, *output = (bf16 *)l.bf16->output;
    curve curve;
    get_curve(l.activation, &curve);
    by_packs_and_kind(l.out_c, curve, [&](auto v, auto kind) {
        add_bias_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<all_blocks(s), THREADS>>>(s, x ? x : output, l.biases_gpu, curve, output, x);
    });
}

void bf16_add_bias_backward_gpu(layer l, network net)
{
    tile_shape s = get_tiles(l);
    part_sums p = get_sums(s, net);
    const bf16 *y = (const bf16 *)(l.bf16->x ? l.bf16->x : l.bf16->output);
    curve curve;
    get_curve(l.activation, &curve);
    by_packs_and_kind(l.out_c, curve, [&](auto v, auto kind) {
        add_bias_backward_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<blocks_of_parts(s), THREADS>>>(s, y, curve, (bf16 *)l.bf16->delta, p.first);
    });
    join_bias_updates_gpu(l, p);
}
#endif
