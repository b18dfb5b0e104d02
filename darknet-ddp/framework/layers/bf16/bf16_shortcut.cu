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

// A layer of its own size is added to the input, or of another: then those of its values that fall
// on the output's.
typedef struct {
    int same;    // size
    int w, h, c; // of the output
    int from_w, from_h, from_c;
    int stride, sample; // columns and rows of the other layer, and of the output, from one to the
                        // next that meets
} meeting_shape;

static meeting_shape get_meeting(layer l)
{
    meeting_shape s = {l.w == l.out_w && l.h == l.out_h && l.c == l.out_c,
                       l.out_w,
                       l.out_h,
                       l.out_c,
                       l.w,
                       l.h,
                       l.c,
                       l.w / l.out_w,
                       l.out_w / l.w};
    if (s.stride < 1)
        s.stride = 1;
    if (s.sample < 1)
        s.sample = 1;
    return s;
}

// The place of the other layer's value that is added to output i; -1: nothing is added.
static __device__ int source_of(meeting_shape s, unsigned i)
{
    if (s.same)
        return i;
    unsigned cell = i / s.c;
    int k = i - cell * s.c;
    int x = cell % s.w, y = cell / s.w % s.h;
    unsigned b = cell / s.w / s.h;
    if (k >= s.from_c || x % s.sample || y % s.sample)
        return -1;
    x = x / s.sample * s.stride;
    y = y / s.sample * s.stride;
    if (x >= s.from_w || y >= s.from_h)
        return -1;
    return ((b * s.from_h + y) * s.from_w + x) * s.from_c + k;
}

// input may be 0: nothing. kept: where to leave what the activation takes, or 0
template <int V, int KIND>
__global__ void shortcut_bf16_kernel(size_t n, meeting_shape s, const bf16 *input, float alpha,
                                     const bf16 *from, float beta, curve curve, bf16 *output,
                                     bf16 *kept)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    int source = source_of(s, i);
    floats<V> y = {};
    if (input)
        y = load_pack<V>(input, i);
    if (source >= 0)
        y = weighted_sum(alpha, y, beta, load_pack<V>(from, source));
    store_activated<V>(curve, y, i, output, kept);
}

// given: what the activation took, or gave where that tells as well
template <int V, int KIND>
__global__ void shortcut_backward_bf16_kernel(size_t n, meeting_shape s, const bf16 *given,
                                              curve curve, const bf16 *delta, float alpha, int set,
                                              bf16 *input_delta, float beta, int set_from,
                                              bf16 *from_delta)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    int source = from_delta ? source_of(s, i) : -1;
    floats<V> d = gradient_pack<V>(curve, given, delta, i), scaled;
    for (int k = 0; k < V; ++k)
        scaled.v[k] = alpha * d.v[k];
    if (input_delta)
        set_or_add_pack<V>(input_delta, i, scaled, set);
    for (int k = 0; k < V; ++k)
        scaled.v[k] = beta * d.v[k];
    if (source >= 0)
        set_or_add_pack<V>(from_delta, source, scaled, set_from);
}

// Packs where both lie alike.
static int pack_channels(layer l)
{
    return get_meeting(l).same ? l.out_c : 1;
}

static size_t pack_count(layer l)
{
    return count_packs((size_t)l.outputs * l.batch, pack_channels(l));
}

void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from)
{
    size_t n = (size_t)l.outputs * l.batch;
    curve curve;
    get_curve(l.activation, &curve);
    by_packs_and_kind(pack_channels(l), curve, [&](auto v, auto kind) {
        shortcut_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<cuda_gridsize(pack_count(l)), BLOCK>>>(n, get_meeting(l), (const bf16 *)input, alpha,
                                                      (const bf16 *)from, l.beta, curve,
                                                      (bf16 *)l.bf16->output, (bf16 *)l.bf16->x);
    });
}

void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta)
{
    size_t n = (size_t)l.outputs * l.batch;
    bf16_arrays *a = l.bf16;
    curve curve;
    get_curve(l.activation, &curve);
    if (set_from && !get_meeting(l).same) { // some of its values meet nothing
        check_error(
            cudaMemsetAsync(from_delta, 0, (size_t)l.w * l.h * l.c * l.batch * sizeof(bf16), 0));
        set_from = 0;
    }
    by_packs_and_kind(pack_channels(l), curve, [&](auto v, auto kind) {
        shortcut_backward_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<cuda_gridsize(pack_count(l)), BLOCK>>>(
                n, get_meeting(l), (const bf16 *)(a->x ? a->x : a->output), curve,
                (const bf16 *)a->delta, alpha, set, (bf16 *)input_delta, l.beta, set_from,
                (bf16 *)from_delta);
    });
}
#endif
