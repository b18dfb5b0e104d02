/* layers/channel_reduce.h: for kernels that go through a layer's output, or an array of its shape,
 * channel by channel. A channel's values are shared out among parts; a block of THREADS threads
 * sums one part of one channel. The number of parts, the values of each and the order of sums
 * follow from the layer's sizes alone. So sums have the same bits on each device and in each run. A
 * block leaves its sum (or mean) at index part * channels + channel of an array on the device. For
 * float layers the arrays are l.mean_delta_gpu and l.variance_delta_gpu. */
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
    int channels, parts; // channels; parts into which a channel's values are shared out
    int spatial;         // values of a channel in one image, which lie side by side
    size_t stride;       // values from an image to the next
    int count;           // values of a channel, of all images

    // A thread's next value is `step` values of its channel further. In the array this is
    // step_column columns and step_offset elements further (before a wrap at the end of an image).
    int step, step_column;
    size_t step_offset;
} channel_shape;

// Return how the values of l's output are shared out.
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

// Sums in memory, each of one part of a channel's values, to be added up to one a channel.
typedef struct {
    int channels, parts;
    int count; // values of a channel, of all images
    int chunk; // values side by side that belong to one part
    int step;  // values from where a chunk begins to where the next chunk of the same part begins
    float *first, *second; // two arrays of sums, parts x channels; the kernel says of what
    int rows; // threads that join the parts of one channel: a power of two, THREADS at most
} part_sums;

// Return where kernels of layer l, which computes in float, leave their sums.
static inline part_sums get_part_sums(layer l)
{
    channel_shape s = get_channels(l);
    part_sums p = {s.channels,           s.parts, s.count, THREADS, s.step, l.mean_delta_gpu,
                   l.variance_delta_gpu, 1};
    return p;
}

// Join the means of parts (p.first) and the sums of squared distances from them (p.second) into
// l.mean_gpu and l.variance_gpu, and update the running statistics. With net.statistics every rank
// must call it: it waits for all, and the results are of the mini-batches of all ranks.
void join_moments_gpu(layer l, network net, part_sums p);
// Join the sums of deltas (p.first), and of deltas times distances from the mean (p.second). Add
// them to the updates of biases and scales. Write the terms of the input's delta that follow from
// these sums to l.mean_delta_gpu and l.variance_delta_gpu. In training with net.statistics every
// rank must call it: these terms are then means over ranks.
void join_delta_sums_gpu(layer l, network net, part_sums p);
// Add the sums of p.first over parts to the updates of the layer's biases.
void join_bias_updates_gpu(layer l, part_sums p);

// Return how many blocks of THREADS threads join p's parts.
static inline int join_blocks(part_sums p)
{
    return (p.channels - 1) / (THREADS / p.rows) + 1;
}

// Return the channel for which this thread joins parts, in a launch of join_blocks(p) blocks; it
// may be p.channels or more.
static inline __device__ int joined_channel(part_sums p)
{
    int lanes = THREADS / p.rows;
    return blockIdx.x * lanes + threadIdx.x % lanes;
}

// Return the sum of value(place, part) over all parts of this thread's channel; place is the sum's
// index in p.first and p.second. The order of additions follows from the number of parts alone. All
// threads of the block must call it, and all threads of a channel get the sum. shared: THREADS
// doubles of shared memory.
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

// Call take(index, load(index)) for each value of this thread in `part` of `channel`; index is the
// value's in the layer's array. Reads up to VALUES_AT_ONCE values before the first is taken, since
// memory is slow to answer.
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

// An activation f, as kernels take it to compute y = f(x), or the gradient from x. The later
// forks' kinds are computed by their own functions. Leaky, relu and linear are x > 0 ? x : slope*x.
typedef struct {
    ACTIVATION kind; // one of the later forks' activations; LINEAR: `slope` says all
    float slope;
} curve;

// Set *f to activation a. Returns 0 if kernels cannot compute it as a curve; *f then is the
// identity, and the caller activates the output later.
static inline int get_curve(ACTIVATION a, curve *f)
{
    f->kind = activation_is_v4(a) ? a : LINEAR;
    f->slope = a == LEAKY ? .1f : a == RELU ? 0 : 1;
    return f->kind != LINEAR || a == LEAKY || a == RELU || a == LINEAR;
}

static inline __host__ __device__ int is_straight(curve f)
{
    return f.kind == LINEAR && f.slope == 1;
}

static inline __device__ float value_on(curve f, float x)
{
    switch (f.kind) {
        FORKS_ACTIVATIONS(ACTIVATE_CASE)
    default:
        return x * (x > 0 ? 1 : f.slope);
    }
}

// Return the gradient of f at x. For leaky, relu, linear and relu6, x may be f(x).
static inline __device__ float gradient_on(curve f, float x)
{
    switch (f.kind) {
        FORKS_ACTIVATIONS(GRADIENT_CASE)
    default:
        return x > 0 ? 1 : f.slope;
    }
}
#endif
