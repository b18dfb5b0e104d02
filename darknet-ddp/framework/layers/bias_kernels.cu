#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

extern "C" {
#include "activations.h"
#include "convolutional_layer.h"
#include "cuda.h"
}
#include "layers/channel_reduce.h"

// For a layer without batch normalisation: biases and activation in one pass over the output.

// kept: where to leave what the activation takes, or null
__global__ void add_bias_activate_kernel(channel_shape s, const float *biases, curve curve,
                                         float *output, float *kept)
{
    int f = blockIdx.x % s.channels;
    float bias = biases[f];
    for_values(
        s, f, blockIdx.x / s.channels, [&](size_t i) { return output[i]; },
        [&](size_t i, float value) {
            float y = value + bias;
            if (kept)
                kept[i] = y;
            output[i] = apply_curve(curve, y);
        });
}

// y: what the activation took, or gave where that tells as well
__global__ void backward_bias_activate_kernel(channel_shape s, const float *y, curve curve,
                                              float *delta, float *sums)
{
    __shared__ float shared[THREADS];
    int id = threadIdx.x;
    float sum = 0;
    for_values(
        s, blockIdx.x % s.channels, blockIdx.x / s.channels,
        [&](size_t i) { return make_float2(is_identity(curve) ? 1 : y[i], delta[i]); },
        [&](size_t i, float2 value) {
            float d = value.y * curve_gradient(curve, value.x);
            if (!is_identity(curve))
                delta[i] = d;
            sum += d;
        });
    shared[id] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            shared[id] += shared[id + half];
    }
    if (id == 0)
        sums[blockIdx.x] = shared[0];
}

__global__ void bias_updates_kernel(part_sums p, float *bias_updates)
{
    __shared__ double shared[THREADS];
    int f = joined_channel(p);
    double sum = sum_over_parts(p, shared, [&](int i, int) { return p.first[i]; });
    if (f < p.channels && threadIdx.x < THREADS / p.rows)
        bias_updates[f] += sum;
}

void add_bias_activate_gpu(layer l)
{
    channel_shape s = get_channels(l);
    curve curve;
    int activated = get_curve(l.activation, &curve);
    add_bias_activate_kernel<<<s.parts * s.channels, THREADS>>>(
        s, l.biases_gpu, curve, l.output_gpu, l.activation_input_gpu);
    check_error(cudaPeekAtLastError());
    if (!activated)
        activate_array_gpu(l.output_gpu, l.outputs * l.batch, l.activation);
}

void backward_bias_activate_gpu(layer l)
{
    channel_shape s = get_channels(l);
    curve curve;
    if (!get_curve(l.activation, &curve))
        gradient_array_gpu(l.output_gpu, l.outputs * l.batch, l.activation, l.delta_gpu);
    backward_bias_activate_kernel<<<s.parts * s.channels, THREADS>>>(
        s, l.activation_input_gpu ? l.activation_input_gpu : l.output_gpu, curve, l.delta_gpu,
        l.mean_delta_gpu);
    check_error(cudaPeekAtLastError());
    join_bias_updates_gpu(l, get_part_sums(l));
}

void join_bias_updates_gpu(layer l, part_sums p)
{
    bias_updates_kernel<<<join_blocks(p), THREADS>>>(p, l.bias_updates_gpu);
    check_error(cudaPeekAtLastError());
}
