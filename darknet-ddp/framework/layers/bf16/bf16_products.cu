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

/*
 * [scale_channels] and [sam]: products of an image and its scales. Scales lie in rows. With [sam]
 * each cell has a row of its own. With [scale_channels] all cells of an image share a row or, with
 * scale_wh=1, each cell has a row of one number, which serves all its channels.
 */

typedef struct {
    unsigned channels;     // of a cell of the image
    unsigned row_channels; // of a row of scales: as many, or 1
    unsigned cells;        // that share a row
} product_shape;

static product_shape get_shape(layer l)
{
    product_shape s = {(unsigned)l.out_c, (unsigned)l.c,
                       (unsigned)(l.out_w * l.out_h / (l.w * l.h))};
    return s;
}

static size_t values_of(layer l)
{
    return (size_t)l.outputs * l.batch;
}

static size_t packs_of(layer l)
{
    return values_of(l) / (l.out_c % VALUES_A_PACK ? 1 : VALUES_A_PACK);
}

// The scales of the pack at value i.
template <int V>
static __device__ floats<V> scales_at(product_shape s, unsigned i, const bf16 *scales)
{
    unsigned cell = i / s.channels, row = cell / s.cells;
    if (s.row_channels == s.channels)
        return load_pack<V>(scales, (size_t)row * s.channels + (i - cell * s.channels));
    floats<V> one;
    for (int k = 0; k < V; ++k)
        one.v[k] = __bfloat162float(scales[row]);
    return one;
}

// kept: where to leave what the activation takes, or 0
template <int V, int KIND>
__global__ void multiply_bf16_kernel(size_t n, product_shape s, const bf16 *x, const bf16 *scales,
                                     curve curve, bf16 *output, bf16 *kept)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    floats<V> y = load_pack<V>(x, i), scale = scales_at<V>(s, i, scales);
    for (int k = 0; k < V; ++k)
        y.v[k] *= scale.v[k];
    store_activated<V>(curve, y, i, output, kept);
}

template <int V, int KIND>
__global__ void multiply_backward_bf16_kernel(size_t n, product_shape s, const bf16 *given,
                                              curve curve, const bf16 *delta, const bf16 *scales,
                                              int set, bf16 *x_delta)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    floats<V> d = gradient_pack<V>(curve, given, delta, i), scale = scales_at<V>(s, i, scales);
    for (int k = 0; k < V; ++k)
        d.v[k] *= scale.v[k];
    set_or_add_pack<V>(x_delta, i, d, set);
}

// A block of threads for each pack of scales, which share its cells.
template <int V, int KIND>
__global__ void scales_delta_bf16_kernel(product_shape s, const bf16 *given, curve curve,
                                         const bf16 *delta, const bf16 *x, int set,
                                         bf16 *scales_delta)
{
    curve = known_curve<KIND>(curve);
    __shared__ float shared[BLOCK * V];
    unsigned id = threadIdx.x, packs = s.channels / V, row = blockIdx.x / packs;
    unsigned channel = (blockIdx.x - row * packs) * V;
    floats<V> sum = {};
    for (unsigned cell = id; cell < s.cells; cell += BLOCK) {
        size_t i = ((size_t)row * s.cells + cell) * s.channels + channel;
        floats<V> d = gradient_pack<V>(curve, given, delta, i), value = load_pack<V>(x, i);
        for (int k = 0; k < V; ++k)
            sum.v[k] += d.v[k] * value.v[k];
    }
    for (int k = 0; k < V; ++k)
        shared[id * V + k] = sum.v[k];
    for (unsigned half = BLOCK / 2; half; half /= 2) {
        __syncthreads();
        for (int k = 0; id < half && k < V; ++k)
            shared[id * V + k] += shared[(id + half) * V + k];
    }
    if (id)
        return;
    for (int k = 0; k < V; ++k)
        sum.v[k] = shared[k];
    set_or_add_pack<V>(scales_delta, (size_t)row * s.channels + channel, sum, set);
}

// A thread for each pack of scales of one cell; or, for one number that serves a cell, for the
// cell.
template <int V, int KIND>
__global__ void own_scales_delta_bf16_kernel(size_t n, product_shape s, const bf16 *given,
                                             curve curve, const bf16 *delta, const bf16 *x, int set,
                                             bf16 *scales_delta)
{
    curve = known_curve<KIND>(curve);
    unsigned id = thread_number();
    int is_one = s.row_channels != s.channels;
    size_t first = is_one ? (size_t)id * s.channels : (size_t)id * V;
    if (first >= n)
        return;
    floats<V> sum = {};
    for (size_t i = first; i < first + (is_one ? s.channels : V); i += V) {
        floats<V> d = gradient_pack<V>(curve, given, delta, i), value = load_pack<V>(x, i);
        for (int k = 0; k < V; ++k)
            sum.v[k] += d.v[k] * value.v[k];
    }
    if (!is_one) {
        set_or_add_pack<V>(scales_delta, first, sum, set);
        return;
    }
    floats<1> all = {};
    for (int k = 0; k < V; ++k)
        all.v[0] += sum.v[k];
    set_or_add_pack<1>(scales_delta, id, all, set);
}

void bf16_multiply_gpu(layer l, const void *x, const void *scales)
{
    curve curve;
    get_curve(l.activation, &curve);
    by_packs_and_kind(l.out_c, curve, [&](auto v, auto kind) {
        multiply_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<cuda_gridsize(packs_of(l)), BLOCK>>>(values_of(l), get_shape(l), (const bf16 *)x,
                                                    (const bf16 *)scales, curve,
                                                    (bf16 *)l.bf16->output, (bf16 *)l.bf16->x);
    });
}

static void give_scales(layer l, const bf16 *given, curve curve, const bf16 *x, int set,
                        bf16 *scales_delta)
{
    product_shape s = get_shape(l);
    size_t cells = (size_t)l.out_w * l.out_h * l.batch;
    const bf16 *delta = (const bf16 *)l.bf16->delta;
    by_packs_and_kind(l.out_c, curve, [&](auto v, auto kind) {
        if (s.cells > 1)
            scales_delta_bf16_kernel<decltype(v)::value, decltype(kind)::value>
                <<<(unsigned)(l.batch * l.w * l.h * (l.out_c / decltype(v)::value)), BLOCK>>>(
                    s, given, curve, delta, x, set, scales_delta);
        else
            own_scales_delta_bf16_kernel<decltype(v)::value, decltype(kind)::value>
                <<<cuda_gridsize(l.c == l.out_c ? packs_of(l) : cells), BLOCK>>>(
                    values_of(l), s, given, curve, delta, x, set, scales_delta);
    });
}

void bf16_multiply_backward_gpu(layer l, const void *x, const void *scales, int set_x,
                                void *x_delta, int set_scales, void *scales_delta)
{
    const bf16 *given = (const bf16 *)(l.bf16->x ? l.bf16->x : l.bf16->output);
    curve curve;
    get_curve(l.activation, &curve);
    if (x_delta)
        by_packs_and_kind(l.out_c, curve, [&](auto v, auto kind) {
            multiply_backward_bf16_kernel<decltype(v)::value, decltype(kind)::value>
                <<<cuda_gridsize(packs_of(l)), BLOCK>>>(
                    values_of(l), get_shape(l), given, curve, (const bf16 *)l.bf16->delta,
                    (const bf16 *)scales, set_x, (bf16 *)x_delta);
        });
    if (scales_delta)
        give_scales(l, given, curve, (const bf16 *)x, set_scales, (bf16 *)scales_delta);
}
#endif
