#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

extern "C" {
#include "activations.h"
#include "cuda.h"
#include "layers/forks_layers.h"
#include "shortcut_layer.h"
}

// [scale_channels], [sam], [implicit], and [shortcut] of several layers or with weights, on the GPU
// by the formulas of the CPU. One thread computes a value, one block a sum, in an order that
// follows from the sizes alone.

#define SUM_THREADS 256

// The sum of all threads' values, in thread 0.
static __device__ float sum_of_block(float value)
{
    __shared__ float shared[SUM_THREADS];
    int id = threadIdx.x;
    shared[id] = value;
    for (int half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            shared[id] += shared[id + half];
    }
    return shared[0];
}

static __device__ int thread_index()
{
    return (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
}

// ---- [shortcut] ----

typedef struct {
    int n;        // values of the output
    int cells, c; // of the output
    int sources;  // the input is the first
    int weights;  // of a source; 0: none
    struct {
        const float *x;
        float *delta;
        int outputs, channels; // channels that it has in common with the output
    } source[SHORTCUT_SOURCES + 1];
} sources_shape;

static sources_shape get_sources(layer l, network net)
{
    sources_shape s = {l.outputs * l.batch, l.out_w * l.out_h, l.out_c, l.n + 1,
                       l.nweights / (l.n + 1)};
    for (int i = 0; i <= l.n; ++i) {
        layer from = i ? net.layers[l.input_layers[i - 1]] : l;
        s.source[i].x = i ? from.output_gpu : net.input_gpu;
        s.source[i].delta = i ? from.delta_gpu : net.delta_gpu;
        s.source[i].outputs = from.outputs;
        s.source[i].channels = from.out_c < l.out_c ? from.out_c : l.out_c;
    }
    return s;
}

static __device__ float raw_blend(WEIGHTS_NORMALIZATION kind, float weight, float largest)
{
    if (kind == SOFTMAX_WEIGHTS)
        return expf(weight - largest);
    return weight > 0 ? weight : 0;
}

// blend_weights() of shortcut_sources.c, a thread for each channel
__global__ void blend_weights_kernel(int channels, int sources, WEIGHTS_NORMALIZATION kind,
                                     const float *weights, float *blend)
{
    int k = thread_index();
    if (k >= channels)
        return;
    float largest = weights[k];
    float sum = .0001f;
    for (int i = 1; i < sources; ++i)
        largest = fmaxf(largest, weights[i * channels + k]);
    for (int i = 0; i < sources; ++i)
        sum += raw_blend(kind, weights[i * channels + k], largest);
    for (int i = 0; i < sources; ++i) {
        float w = weights[i * channels + k];
        blend[i * channels + k] = kind == FREE_WEIGHTS ? w : raw_blend(kind, w, largest) / sum;
    }
}

static __device__ float blend_of(sources_shape s, const float *blend, int source, int channel)
{
    return s.weights ? blend[source * s.weights + (s.weights > 1 ? channel : 0)] : 1;
}

__global__ void forward_sources_kernel(sources_shape s, const float *blend, float *output)
{
    int i = thread_index();
    if (i >= s.n)
        return;
    int plane = i / s.cells;
    int b = plane / s.c;
    int k = plane - b * s.c;
    int at = i - b * s.c * s.cells; // in its image
    float sum = 0;
    for (int j = 0; j < s.sources; ++j) {
        if (k < s.source[j].channels)
            sum += blend_of(s, blend, j, k) * s.source[j].x[(size_t)b * s.source[j].outputs + at];
    }
    output[i] = sum;
}

__global__ void backward_sources_kernel(sources_shape s, const float *blend, const float *delta)
{
    int i = thread_index();
    if (i >= s.n)
        return;
    int plane = i / s.cells;
    int b = plane / s.c;
    int k = plane - b * s.c;
    int at = i - b * s.c * s.cells;
    for (int j = 0; j < s.sources; ++j) {
        if (k < s.source[j].channels)
            s.source[j].delta[(size_t)b * s.source[j].outputs + at] +=
                blend_of(s, blend, j, k) * delta[i];
    }
}

// A block for each weight.
__global__ void weight_updates_kernel(sources_shape s, const float *delta, float *updates)
{
    int j = blockIdx.x / s.weights;
    int first = s.weights > 1 ? blockIdx.x % s.weights : 0;
    int channels = s.weights > 1 ? 1 : s.source[j].channels;
    if (first >= s.source[j].channels)
        return;                      // a channel that the source does not have
    int values = channels * s.cells; // of an image
    int batch = s.n / (s.c * s.cells);
    float sum = 0;
    for (int i = threadIdx.x; i < batch * values; i += SUM_THREADS) {
        int b = i / values;
        int at = first * s.cells + i - b * values;
        sum += delta[(size_t)b * s.c * s.cells + at]
               * s.source[j].x[(size_t)b * s.source[j].outputs + at];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        updates[blockIdx.x] += sum;
}

void forward_shortcut_sources_gpu(layer l, network net)
{
    sources_shape s = get_sources(l, net);
    if (s.weights) {
        blend_weights_kernel<<<cuda_gridsize(s.weights), BLOCK>>>(
            s.weights, s.sources, l.weights_normalization, l.weights_gpu, l.blend_gpu);
        check_error(cudaPeekAtLastError());
    }
    forward_sources_kernel<<<cuda_gridsize(s.n), BLOCK>>>(s, l.blend_gpu, l.output_gpu);
    check_error(cudaPeekAtLastError());
    activate_layer_gpu(l);
}

void backward_shortcut_sources_gpu(layer l, network net)
{
    sources_shape s = get_sources(l, net);
    gradient_layer_gpu(l);
    if (s.weights) {
        weight_updates_kernel<<<l.nweights, SUM_THREADS>>>(s, l.delta_gpu, l.weight_updates_gpu);
        check_error(cudaPeekAtLastError());
    }
    backward_sources_kernel<<<cuda_gridsize(s.n), BLOCK>>>(s, l.blend_gpu, l.delta_gpu);
    check_error(cudaPeekAtLastError());
}

// ---- [scale_channels] ----

__global__ void scale_channels_kernel(int n, int cells, int c, int by_cell, const float *x,
                                      const float *scales, float *output)
{
    int i = thread_index();
    if (i >= n)
        return;
    int plane = i / cells;
    output[i] = x[i] * scales[by_cell ? plane / c * cells + i - plane * cells : plane];
}

__global__ void backward_scaled_kernel(int n, int cells, int c, int by_cell, const float *delta,
                                       const float *scales, float *x_delta)
{
    int i = thread_index();
    if (i >= n)
        return;
    int plane = i / cells;
    x_delta[i] += delta[i] * scales[by_cell ? plane / c * cells + i - plane * cells : plane];
}

// A block for each channel of each image.
__global__ void channel_scale_delta_kernel(int cells, const float *delta, const float *x,
                                           float *scale_delta)
{
    size_t first = (size_t)blockIdx.x * cells;
    float sum = 0;
    for (int i = threadIdx.x; i < cells; i += SUM_THREADS)
        sum += delta[first + i] * x[first + i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        scale_delta[blockIdx.x] += sum;
}

// A thread for each cell of each image.
__global__ void cell_scale_delta_kernel(int n, int cells, int c, const float *delta, const float *x,
                                        float *scale_delta)
{
    int i = thread_index();
    if (i >= n)
        return;
    size_t at = (size_t)(i / cells) * c * cells + i % cells;
    float sum = 0;
    for (int k = 0; k < c; ++k, at += cells)
        sum += delta[at] * x[at];
    scale_delta[i] += sum;
}

void forward_scale_channels_layer_gpu(layer l, network net)
{
    int n = l.outputs * l.batch;
    scale_channels_kernel<<<cuda_gridsize(n), BLOCK>>>(n, l.out_w * l.out_h, l.out_c, l.spatial,
                                                       net.layers[l.index].output_gpu,
                                                       net.input_gpu, l.output_gpu);
    check_error(cudaPeekAtLastError());
    activate_layer_gpu(l);
}

void backward_scale_channels_layer_gpu(layer l, network net)
{
    layer from = net.layers[l.index];
    int n = l.outputs * l.batch;
    int cells = l.out_w * l.out_h;
    gradient_layer_gpu(l);
    backward_scaled_kernel<<<cuda_gridsize(n), BLOCK>>>(n, cells, l.out_c, l.spatial, l.delta_gpu,
                                                        net.input_gpu, from.delta_gpu);
    check_error(cudaPeekAtLastError());
    if (l.spatial)
        cell_scale_delta_kernel<<<cuda_gridsize(cells * l.batch), BLOCK>>>(
            cells * l.batch, cells, l.out_c, l.delta_gpu, from.output_gpu, net.delta_gpu);
    else
        channel_scale_delta_kernel<<<l.out_c * l.batch, SUM_THREADS>>>(
            cells, l.delta_gpu, from.output_gpu, net.delta_gpu);
    check_error(cudaPeekAtLastError());
}

// ---- [sam] ----

__global__ void multiply_kernel(int n, const float *a, const float *b, float *output)
{
    int i = thread_index();
    if (i < n)
        output[i] = a[i] * b[i];
}

// The two deltas may be one.
__global__ void backward_multiply_kernel(int n, const float *delta, const float *a, const float *b,
                                         float *a_delta, float *b_delta)
{
    int i = thread_index();
    if (i >= n)
        return;
    a_delta[i] += delta[i] * b[i];
    b_delta[i] += delta[i] * a[i];
}

void forward_sam_layer_gpu(layer l, network net)
{
    int n = l.outputs * l.batch;
    multiply_kernel<<<cuda_gridsize(n), BLOCK>>>(n, net.input_gpu, net.layers[l.index].output_gpu,
                                                 l.output_gpu);
    check_error(cudaPeekAtLastError());
    activate_layer_gpu(l);
}

void backward_sam_layer_gpu(layer l, network net)
{
    layer from = net.layers[l.index];
    int n = l.outputs * l.batch;
    gradient_layer_gpu(l);
    backward_multiply_kernel<<<cuda_gridsize(n), BLOCK>>>(
        n, l.delta_gpu, net.input_gpu, from.output_gpu, net.delta_gpu, from.delta_gpu);
    check_error(cudaPeekAtLastError());
}

// ---- [implicit] ----

__global__ void repeat_kernel(int n, int weights, const float *x, float *output)
{
    int i = thread_index();
    if (i < n)
        output[i] = x[i % weights];
}

__global__ void add_images_kernel(int weights, int batch, const float *delta, float *updates)
{
    int i = thread_index();
    if (i >= weights)
        return;
    float sum = 0;
    for (int b = 0; b < batch; ++b)
        sum += delta[(size_t)b * weights + i];
    updates[i] += sum;
}

void forward_implicit_layer_gpu(layer l, network net)
{
    int n = l.nweights * l.batch;
    repeat_kernel<<<cuda_gridsize(n), BLOCK>>>(n, l.nweights, l.weights_gpu, l.output_gpu);
    check_error(cudaPeekAtLastError());
}

void backward_implicit_layer_gpu(layer l, network net)
{
    add_images_kernel<<<cuda_gridsize(l.nweights), BLOCK>>>(l.nweights, l.batch, l.delta_gpu,
                                                            l.weight_updates_gpu);
    check_error(cudaPeekAtLastError());
}
