#ifndef CHANNEL_REDUCE_H
#define CHANNEL_REDUCE_H
extern "C" {
#include "activations.h"
#include "batchnorm_layer.h"
}

/*
 * For kernels that go through a layer's output, or what has its shape, channel by
 * channel. A channel's values are shared out among parts, a block of THREADS each.
 * The number of parts, who sums what, and the order of sums follow from the layer's
 * sizes alone. So the sums are the same on each device and in each run. Parts leave
 * their sums in memory, part by part, a value for each channel. Those of float arrays
 * are in l.mean_delta_gpu and l.variance_delta_gpu.
 */
#define THREADS 256
#define VALUES_A_THREAD 16
#define VALUES_AT_ONCE 4

typedef struct {
    int channels, parts;
    int spatial;   // values of a channel that lie side by side
    size_t stride; // from an image to the next
    int count;     // values of a channel

    // a thread takes values that are this many of its channel's apart
    int step, step_column;
    size_t step_offset;
} channel_shape;

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

// The sums that parts have left, to be joined.
typedef struct {
    int channels, parts;
    int count; // values of a channel
    int chunk,
        step; // a part has so many values that follow one another, and its next are so far on
    float *first, *second;
    int rows; // threads that share out a channel's parts: a power of two
} part_sums;

static inline part_sums get_part_sums(layer l)
{
    channel_shape s = get_channels(l);
    part_sums p = {s.channels,           s.parts, s.count, THREADS, s.step, l.mean_delta_gpu,
                   l.variance_delta_gpu, 1};
    return p;
}

// The layer's mean and variance, and the running ones, from parts' means and squares.
void join_moments_gpu(layer l, network net, part_sums p);
// l.mean_delta_gpu and l.variance_delta_gpu, and updates of scales and biases, from parts' sums and
// products.
void join_delta_sums_gpu(layer l, network net, part_sums p);
// Updates of biases from parts' sums.
void join_bias_updates_gpu(layer l, part_sums p);

static inline int join_blocks(part_sums p)
{
    return (p.channels - 1) / (THREADS / p.rows) + 1;
}

// The channel that this thread has a part in, of a launch of join_blocks().
static inline __device__ int joined_channel(part_sums p)
{
    int lanes = THREADS / p.rows;
    return blockIdx.x * lanes + threadIdx.x % lanes;
}

// The sum over all parts of value(place, part), in an order that follows from their number alone.
// Each of a channel's threads is given it; all threads of a block call this. shared has THREADS.
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

// Call take(place, value) for this thread's values of a channel. load(place) reads several of them
// before the first is taken, since memory is slow to answer.
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

// An activation that is computed where y is, and whose gradient follows from y. The forks' are
// computed by their own functions. Leaky, relu and linear are y > 0 ? y : slope*y.
typedef struct {
    ACTIVATION kind; // LINEAR: by the slope
    float slope;
} curve;

// 0: the activation is another, and the curve leaves y as it is
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

// The factor that x multiplies a delta by. For leaky, relu, linear and relu6, f(x) may be given in
// place of x.
static inline __device__ float gradient_on(curve f, float x)
{
    switch (f.kind) {
        FORKS_ACTIVATIONS(GRADIENT_CASE)
    default:
        return x > 0 ? 1 : f.slope;
    }
}
#endif
