#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#include <assert.h>

extern "C" {
#include "activations.h"
#include "cuda.h"
#include "layers/deltas.h"
#include "shortcut_layer.h"
}
#include "layers/channel_reduce.h"

// A [shortcut] adds the output of another layer to its input. If the sizes differ, only those
// values of the other layer are added that fall on a place of the output.
typedef struct {
    int n;       // values of the output
    int same;    // size
    int w, h, c; // of the output
    int from_w, from_h, from_c;
    int stride, sample; // columns and rows of the other layer, and of the output, from one to the
                        // next that meets
} shortcut_shape;

static shortcut_shape get_shape(layer l)
{
    shortcut_shape s = {
        l.outputs * l.batch, 0, l.out_w, l.out_h, l.out_c, l.w, l.h, l.c, l.w / l.out_w,
        l.out_w / l.w};
    s.same = l.w == l.out_w && l.h == l.out_h && l.c == l.out_c;
    assert(s.stride == l.h / l.out_h);
    assert(s.sample == l.out_h / l.h);
    if (s.stride < 1)
        s.stride = 1;
    if (s.sample < 1)
        s.sample = 1;
    return s;
}

// The place of the other layer's value that is added to output i; -1: nothing is added.
__device__ int source_of(shortcut_shape s, int i)
{
    if (s.same)
        return i;
    int plane = i / (s.w * s.h);
    int b = plane / s.c;
    int k = plane - b * s.c;
    if (k >= s.from_c)
        return -1;
    i -= plane * s.w * s.h;
    int y = i / s.w;
    int x = i - y * s.w;
    if (s.sample > 1) {
        if (x % s.sample || y % s.sample)
            return -1;
        x /= s.sample;
        y /= s.sample;
    }
    x *= s.stride;
    y *= s.stride;
    if (x >= s.from_w || y >= s.from_h)
        return -1;
    return x + s.from_w * (y + s.from_h * (k + s.from_c * b));
}

// Memory is slow to answer: a thread asks for all of its values before it uses the first. input may
// be 0: nothing.
__global__ void forward_shortcut_kernel(shortcut_shape s, const float *input, float alpha,
                                        const float *from, float beta, curve curve, float *output,
                                        float *kept)
{
    int first = blockIdx.x * THREADS * VALUES_AT_ONCE + threadIdx.x;
    int source[VALUES_AT_ONCE];
    float x[VALUES_AT_ONCE], added[VALUES_AT_ONCE];
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        source[k] = i < s.n ? source_of(s, i) : -1;
    }
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        x[k] = i < s.n && input ? input[i] : 0;
        added[k] = source[k] < 0 ? 0 : from[source[k]];
    }
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        float y = source[k] < 0 ? x[k] : alpha * x[k] + beta * added[k];
        if (i < s.n && kept)
            kept[i] = y;
        if (i < s.n)
            output[i] = apply_curve(curve, y);
    }
}

// Sets a delta that nobody has added to, and adds to others; input_delta and from_delta may be 0.
// given: what the activation took, or gave.
__global__ void backward_shortcut_kernel(shortcut_shape s, const float *given, curve curve,
                                         const float *delta, float alpha, int set,
                                         float *input_delta, float beta, int set_from,
                                         float *from_delta)
{
    int first = blockIdx.x * THREADS * VALUES_AT_ONCE + threadIdx.x;
    int source[VALUES_AT_ONCE];
    float y[VALUES_AT_ONCE], d[VALUES_AT_ONCE], d_input[VALUES_AT_ONCE], d_from[VALUES_AT_ONCE];
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        source[k] = from_delta && i < s.n ? source_of(s, i) : -1;
    }
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        int there = i < s.n;
        d[k] = there ? delta[i] : 0;
        y[k] = there && !is_identity(curve) ? given[i] : 1;
        d_input[k] = there && !set && input_delta ? input_delta[i] : 0;
        d_from[k] = set_from || source[k] < 0 ? 0 : from_delta[source[k]];
    }
#pragma unroll
    for (int k = 0; k < VALUES_AT_ONCE; ++k) {
        int i = first + k * THREADS;
        float behind = d[k] * curve_gradient(curve, y[k]);
        if (i < s.n && input_delta)
            input_delta[i] = d_input[k] + alpha * behind;
        if (source[k] >= 0)
            from_delta[source[k]] = d_from[k] + beta * behind;
    }
}

void forward_shortcut_layer_gpu(const layer l, network net)
{
    shortcut_shape s = get_shape(l);
    curve curve;
    int activated = get_curve(l.activation, &curve);
    int blocks = (s.n - 1) / (THREADS * VALUES_AT_ONCE) + 1;
    forward_shortcut_kernel<<<blocks, THREADS>>>(
        s, is_left_out(net, net.index - 1) ? 0 : net.input_gpu, shortcut_alpha(l, net),
        net.layers[l.index].output_gpu, l.beta, curve, l.output_gpu, l.activation_input_gpu);
    check_error(cudaPeekAtLastError());
    if (!activated)
        activate_array_gpu(l.output_gpu, s.n, l.activation);
}

void backward_shortcut_layer_gpu(const layer l, network net)
{
    shortcut_shape s = get_shape(l);
    curve curve;
    float *from_delta = net.layers[l.index].delta_gpu;
    float alpha = shortcut_alpha(l, net);
    float *input_delta = is_left_out(net, net.index - 1) ? 0 : net.delta_gpu;
    int blocks = (s.n - 1) / (THREADS * VALUES_AT_ONCE) + 1;
    if (!get_curve(l.activation, &curve))
        gradient_array_gpu(l.output_gpu, s.n, l.activation, l.delta_gpu);
    if (from_delta == net.delta_gpu) { // twice the input
        alpha += l.beta;
        from_delta = 0;
    }
    int set = input_delta && sets_delta(net, net.index - 1);
    int set_from = from_delta && sets_delta(net, l.index);
    backward_shortcut_kernel<<<blocks, THREADS>>>(
        s, l.activation_input_gpu ? l.activation_input_gpu : l.output_gpu, curve, l.delta_gpu,
        alpha, set, input_delta, l.beta, set_from, from_delta);
    check_error(cudaPeekAtLastError());
}
