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
#include "layers/bf16/bf16_values.h"
#include "layers/channel_reduce.h"
#include "layers/normalizer.h"

/*
 * Kernels that do on NHWC arrays of bf16 what batchnorm_kernels.cu and bias_kernels.cu do on arrays
 * of floats. Sums and statistics are floats. A channel is summed in parts, which are then joined as
 * channel_reduce.h does it. The order of sums follows from the layer's sizes alone.
 *
 * A block has `lanes` threads side by side, each with a pack of channels, on THREADS/lanes rows; a
 * row is a cell. For the same channels there are `parts` blocks, each of which takes every parts-th
 * such group of rows.
 */
typedef struct {
    int channels, count; // of channels, and of rows
    int lanes, rows;
    int tiles; // blocks for all channels of a row
    int parts, step;
} tile_shape;

// Four blocks for each of a large GPU's 132 multiprocessors. A constant, since sums are to be the
// same on each device.
#define REDUCTION_BLOCKS 528
// A thread of a part has at least so many packs: less would be more work to join than to add.
#define PACKS_A_THREAD 2
// Threads that join a channel's parts.
#define JOIN_ROWS 32

static int pack_size(layer l)
{
    return l.out_c % VALUES_A_PACK ? 1 : VALUES_A_PACK;
}

static int at_least_one(int n)
{
    return n < 1 ? 1 : n;
}

static tile_shape get_tiles(layer l)
{
    tile_shape s;
    int packs = l.out_c / pack_size(l);
    s.channels = l.out_c;
    s.count = l.batch * l.out_h * l.out_w;
    s.lanes = 1;
    while (s.lanes < packs && s.lanes < 32)
        s.lanes *= 2;
    s.rows = THREADS / s.lanes;
    s.tiles = (packs - 1) / s.lanes + 1;
    s.parts = at_least_one(REDUCTION_BLOCKS / s.tiles);
    int most = at_least_one(s.count / (s.rows * PACKS_A_THREAD));
    if (s.parts > most)
        s.parts = most;
    s.step = s.parts * s.rows;
    return s;
}

static int blocks_of_parts(tile_shape s)
{
    return s.tiles * s.parts;
}

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
    if (channel >= s.channels)
        return;
#pragma unroll 4
    for (int k = 0; k < ROWS_A_THREAD; ++k, row += s.rows)
        if (row < s.count)
            take(row * s.channels + channel);
}

// take(place of a pack, what load(place) gave) for this thread's rows of a part, in a launch of
// blocks_of_parts(). AT_ONCE are loaded before the first is taken, since memory is slow to answer.
template <int AT_ONCE, class Load, class Take>
static __device__ void for_rows_of_part(tile_shape s, int channel, Load load, Take take)
{
    unsigned row = blockIdx.x / s.tiles * s.rows + threadIdx.x / s.lanes;
    unsigned count = channel < s.channels ? s.count : 0;
    for (; row < count; row += AT_ONCE * s.step) {
        decltype(load(0)) value[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (row + k * s.step < count)
                value[k] = load((size_t)(row + k * s.step) * s.channels + channel);
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (row + k * s.step < count)
                take((size_t)(row + k * s.step) * s.channels + channel, value[k]);
    }
}

template <int V> struct two_packs {
    pack<V> x, delta;
};

// The input of BatchNorm, and what was loaded to make the delta of its output of.
template <int V, class Delta> struct pack_and_delta {
    pack<V> x;
    Delta delta;
};

template <int V> static __device__ floats<V> rounded(floats<V> f)
{
    return unpacked(packed(f));
}

/*
 * A layer that is fused with the [shortcut] behind it: what this one would have read from memory
 * is rounded to bf16 as memory would have, so all values are those of two layers, to the bit.
 */

// How the output is made of the normalized value: it is that value, or the shortcut's output.
struct own_output {
    template <int V> __device__ floats<V> operator()(floats<V> y, size_t) const
    {
        return y;
    }
};

struct shortcut_output {
    const bf16 *from;
    float alpha, beta, slope;

    template <int V> __device__ floats<V> operator()(floats<V> y, size_t i) const
    {
        curve curve = {LINEAR, slope};
        y = weighted_sum(alpha, rounded(y), beta, load_pack<V>(from, i));
#pragma unroll
        for (int k = 0; k < V; ++k)
            y.v[k] = apply_curve(curve, y.v[k]);
        return y;
    }
};

// Where the delta comes from: it is the layer's own, or is made of the shortcut's.
struct own_delta {
    enum { AT_ONCE = VALUES_AT_ONCE };
    const bf16 *delta;

    template <int V> __device__ pack<V> load(size_t i) const
    {
        return pack_at<V>(delta, i);
    }
    template <int V> __device__ floats<V> take(size_t, pack<V> loaded) const
    {
        return unpacked(loaded);
    }
};

struct shortcut_delta {
    // Half as many, since each is of two arrays: there are registers for no more.
    enum { AT_ONCE = VALUES_AT_ONCE / 2 };
    const bf16 *delta, *output; // output 0: the activation is straight
    float slope, alpha, beta;
    bf16 *from_delta; // 0: not to be given
    int set_from;

    template <int V> __device__ two_packs<V> load(size_t i) const
    {
        pack<V> d = pack_at<V>(delta, i);
        return two_packs<V>{output ? pack_at<V>(output, i) : d, d};
    }
    template <int V> __device__ floats<V> take(size_t i, two_packs<V> loaded) const
    {
        curve curve = {LINEAR, slope};
        floats<V> d = unpacked(loaded.delta), y = unpacked(loaded.x), from;
#pragma unroll
        for (int k = 0; k < V; ++k) {
            if (output)
                d.v[k] *= curve_gradient(curve, y.v[k]);
            from.v[k] = beta * d.v[k];
            d.v[k] *= alpha;
        }
        if (from_delta)
            set_or_add_pack<V>(from_delta, i, from, set_from);
        return rounded(d);
    }
};

// Sum each channel over a block's rows, to shared[0..lanes*V); shared has THREADS*V values.
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
