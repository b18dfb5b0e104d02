/* layers/channel_reduce.h: helpers of kernels that sum over each channel of a layer's output, or of
 * an array of its shape. And a type for activations in kernels, curve.
 *
 * A channel's values are divided into parts. A kernel sums each part, and leaves the sum (or mean)
 * at index part * channels + channel of an array. A second kernel then adds up the parts of each
 * channel. The number of parts and the order of additions depend on the layer's sizes alone. So
 * sums have the same bits on each device and in each run. */
#ifndef CHANNEL_REDUCE_H
#define CHANNEL_REDUCE_H
extern "C" {
#include "activations.h"
#include "batchnorm_layer.h"
}

#define THREADS 256
#define VALUES_A_THREAD 16
#define VALUES_AT_ONCE 4

typedef struct {
    int channels;
    int parts;     // number of parts of a channel
    int spatial;   // number of values of a channel in one image; they lie side by side
    size_t stride; // distance from an image to the next, in values
    int count;     // number of values of a channel in all images

    // A thread takes every step-th value of a channel. In the array a step is step_offset elements,
    // and step_column columns (before a wrap at the end of an image).
    int step, step_column;
    size_t step_offset;
} channel_shape;

// Return the shape of l's output.
static inline channel_shape get_channels(layer l)
{
    channel_shape s;
    s.channels = l.out_c;
    s.spatial = l.out_h * l.out_w;
    s.stride = (size_t)l.out_c * s.spatial;
    s.count = l.batch * s.spatial;
    int most = CHANNEL_SUMS / s.channels;
    s.parts = s.count / (THREADS * VALUES_A_THREAD);
    if (s.parts > most)
        s.parts = most;
    if (s.parts < 1)
        s.parts = 1;
    s.step = s.parts * THREADS;
    s.step_column = s.step % s.spatial;
    s.step_offset = s.step / s.spatial * s.stride + s.step_column;
    return s;
}

// The sums of all parts, in memory of the device, which the functions below add up by channel.
typedef struct {
    int channels, parts;
    int count;             // number of values of a channel in all images
    int chunk;             // number of values side by side that belong to one part
    int step;              // distance from a chunk to the next one of the same part, in values
    float *first, *second; // arrays of parts x channels sums; the kernel says of what
    int rows; // number of threads that add up a channel: a power of two, THREADS at most
} part_sums;

// Return the arrays for the sums of l's output, a float layer's: l.mean_delta_gpu and
// l.variance_delta_gpu.
static inline part_sums get_part_sums(layer l)
{
    channel_shape s = get_channels(l);
    part_sums p = {s.channels,           s.parts, s.count, THREADS, s.step, l.mean_delta_gpu,
                   l.variance_delta_gpu, 1};
    return p;
}

// Compute the mean and variance of each channel, and write them to l.mean_gpu and l.variance_gpu.
// Update the running statistics. `p.first` has the parts' means, `p.second` the sums of squared
// distances from them. With net.statistics the results are of the mini-batches of all ranks, so
// every rank must call it; it waits for the others.
void join_moments_gpu(layer l, network net, part_sums p);
// Add up the sums of deltas (p.first), and of deltas times distances from the mean (p.second). Add
// them to the updates of biases and scales. Write the terms of the input's delta that follow from
// them to l.mean_delta_gpu and l.variance_delta_gpu. In training with net.statistics these terms
// are means over ranks, so every rank must call it.
void join_delta_sums_gpu(layer l, network net, part_sums p);
// Add the sums of p.first, by channel, to the updates of the layer's biases.
void join_bias_updates_gpu(layer l, part_sums p);

// Return how many blocks of THREADS threads a kernel needs that adds up p by sum_over_parts.
static inline int join_blocks(part_sums p)
{
    return (p.channels - 1) / (THREADS / p.rows) + 1;
}

// Return the channel whose parts this thread adds up, in a launch of join_blocks(p) blocks. It may
// be p.channels or more.
static inline __device__ int joined_channel(part_sums p)
{
    int lanes = THREADS / p.rows;
    return blockIdx.x * lanes + threadIdx.x % lanes;
}

// Return the sum of value(index, part) over all parts of joined_channel(p); index is the part's in
// p.first and p.second. The order of additions depends on p.parts and p.rows alone. All threads of
// the block must call it. `shared`: THREADS doubles of shared memory.
template <class Value> __device__ double sum_over_parts(part_sums p, double *shared, Value value)
{
    int f = joined_channel(p), lanes = THREADS / p.rows, row = threadIdx.x / lanes;
    double sum = 0;
#pragma unroll 4
    for (int part = row; part < p.parts; part += p.rows)
        if (f < p.channels)
            sum += value(part * p.channels + f, part);
    if (p.rows == 1)
        return sum;
    __syncthreads();
    shared[threadIdx.x] = sum;
    for (int half = p.rows / 2; half > 0; half /= 2) {
        __syncthreads();
        if (row < half)
            shared[threadIdx.x] += shared[threadIdx.x + half * lanes];
    }
    __syncthreads();
    return shared[threadIdx.x % lanes];
}

// Call take(index, load(index)) for each value of this thread in one part of a channel; index is
// the value's in the array. Up to VALUES_AT_ONCE loads come before their takes, since memory is
// slow to answer.
template <class Load, class Take>
__device__ void for_values(channel_shape s, int channel, int part, Load load, Take take)
{
    int i = part * THREADS + threadIdx.x;
    int left = s.count - i;
    int column = i % s.spatial;
    size_t offset = i / s.spatial * s.stride + (size_t)channel * s.spatial + column;
    while (left > 0) {
        size_t at[VALUES_AT_ONCE];
        decltype(load(0)) value[VALUES_AT_ONCE];
#pragma unroll
        for (int k = 0; k < VALUES_AT_ONCE; ++k) {
            at[k] = offset;
            if (left > k * s.step)
                value[k] = load(offset);
            offset += s.step_offset;
            column += s.step_column;
            if (column >= s.spatial) {
                column -= s.spatial;
                offset += s.stride - s.spatial;
            }
        }
#pragma unroll
        for (int k = 0; k < VALUES_AT_ONCE; ++k)
            if (left > k * s.step)
                take(at[k], value[k]);
        left -= VALUES_AT_ONCE * s.step;
    }
}

// An activation for kernels. Its kind is one of the later forks' activations, or LINEAR. LINEAR
// stands for leaky, relu and linear: x > 0 ? x : slope*x.
typedef struct {
    ACTIVATION kind;
    float slope;
} curve;

// Set *f to activation a, and return 1. If kernels cannot compute it, set *f to the identity, and
// return 0; the caller must activate the output itself.
static inline int get_curve(ACTIVATION a, curve *f)
{
    f->kind = activation_is_v4(a) ? a : LINEAR;
    f->slope = a == LEAKY ? .1f : a == RELU ? 0 : 1;
    return f->kind != LINEAR || a == LEAKY || a == RELU || a == LINEAR;
}

static inline __host__ __device__ int is_identity(curve f)
{
    return f.kind == LINEAR && f.slope == 1;
}

static inline __device__ float apply_curve(curve f, float x)
{
    switch (f.kind) {
        FORKS_ACTIVATIONS(ACTIVATE_CASE)
    default:
        return x * (x > 0 ? 1 : f.slope);
    }
}

// Return the derivative of f at x. For leaky, relu, linear and relu6, x may also be f(x).
static inline __device__ float curve_gradient(curve f, float x)
{
    switch (f.kind) {
        FORKS_ACTIVATIONS(GRADIENT_CASE)
    default:
        return x > 0 ? 1 : f.slope;
    }
}
#endif
