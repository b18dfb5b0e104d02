#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

extern "C" {
#include "activations.h"
#include "batchnorm_layer.h"
#include "blas.h"
#include "cuda.h"
}
#include "layers/channel_reduce.h"
#include "layers/normalizer.h"

// Batch normalisation on the GPU, with the formulas of batchnorm_layer.c and the layer's
// activation.

__global__ void moments_kernel(channel_shape s, const float *x, float *means, float *squares)
{
    __shared__ moments shared[THREADS];
    int id = threadIdx.x;
    int n = 0;
    float first = 0, sum = 0, sum_squares = 0;

    // distances from a value of their own: sums of large values would drown their differences
    for_values(
        s, blockIdx.x % s.channels, blockIdx.x / s.channels, [&](size_t i) { return x[i]; },
        [&](size_t i, float value) {
            if (n++ == 0)
                first = value;
            float d = value - first;
            sum += d;
            sum_squares += d * d;
        });
    float squares_left = n ? sum_squares - sum * (sum / n) : 0;
    shared[id].count = n;
    shared[id].mean = n ? first + sum / n : 0;
    shared[id].squares = squares_left < 0 ? 0 : squares_left; // by rounding
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half)
            shared[id] = join_moments(shared[id], shared[id + half]);
    }
    if (id == 0) {
        means[blockIdx.x] = shared[0].mean;
        squares[blockIdx.x] = shared[0].squares;
    }
}

// how many values a part takes
__device__ int count_of_part(part_sums p, int part)
{
    int rest = p.count % p.step - part * p.chunk;
    if (rest < 0)
        rest = 0;
    if (rest > p.chunk)
        rest = p.chunk;
    return p.count / p.step * p.chunk + rest;
}

__global__ void mean_variance_kernel(part_sums p, float *mean, float *variance, double divisor,
                                     float keep, float take, float *rolling_mean,
                                     float *rolling_variance)
{
    __shared__ double shared[THREADS];
    int f = joined_channel(p);
    double m = sum_over_parts(
        p, shared, [&](int i, int part) { return (double)count_of_part(p, part) * p.first[i]; });
    m /= p.count;
    double v = sum_over_parts(p, shared, [&](int i, int part) {
        double d = p.first[i] - m;
        return p.second[i] + count_of_part(p, part) * d * d;
    });
    v /= divisor;
    if (f >= p.channels || threadIdx.x >= THREADS / p.rows)
        return;
    mean[f] = m;
    variance[f] = v;
    rolling_mean[f] = keep * rolling_mean[f] + take * mean[f];
    rolling_variance[f] = keep * rolling_variance[f] + take * variance[f];
}

__global__ void normalize_channels_kernel(channel_shape s, const float *x, const float *mean,
                                          const float *variance, const float *scales,
                                          const float *biases, curve activation, float *output)
{
    int f = blockIdx.x % s.channels;
    normalizer n = get_normalizer(f, mean, variance, scales, biases, activation);
    for_values(
        s, f, blockIdx.x / s.channels, [&](size_t i) { return x[i]; },
        [&](size_t i, float value) { output[i] = apply_curve(activation, normalize(value, n)); });
}

__global__ void delta_sums_kernel(channel_shape s, const float *x, const float *delta,
                                  const float *mean, const float *variance, const float *scales,
                                  const float *biases, curve activation, float *sums,
                                  float *products)
{
    __shared__ float shared_sum[THREADS], shared_product[THREADS];
    int id = threadIdx.x;
    int f = blockIdx.x % s.channels;
    normalizer n = get_normalizer(f, mean, variance, scales, biases, activation);
    float sum = 0, product = 0;
    for_values(
        s, f, blockIdx.x / s.channels, [&](size_t i) { return make_float2(x[i], delta[i]); },
        [&](size_t i, float2 value) {
            float d = activation_input_delta(value.y, value.x, n);
            sum += d;
            product += d * (value.x - n.mean);
        });
    shared_sum[id] = sum;
    shared_product[id] = product;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (id < half) {
            shared_sum[id] += shared_sum[id + half];
            shared_product[id] += shared_product[id + half];
        }
    }
    if (id == 0) {
        sums[blockIdx.x] = shared_sum[0];
        products[blockIdx.x] = shared_product[0];
    }
}

// the deltas may lie where the sums of part 0 do
__global__ void scale_bias_updates_kernel(part_sums p, const float *variance, float *bias_updates,
                                          float *scale_updates, float *mean_delta,
                                          float *variance_delta)
{
    __shared__ double shared[THREADS];
    int f = joined_channel(p);
    float sum = sum_over_parts(p, shared, [&](int i, int) { return p.first[i]; });
    float product = sum_over_parts(p, shared, [&](int i, int) { return p.second[i]; });
    if (f >= p.channels || threadIdx.x >= THREADS / p.rows)
        return;
    bias_updates[f] += sum;
    float deviation = channel_deviation(variance[f]);
    scale_updates[f] += product / deviation;
    mean_delta[f] = -sum / p.count;
    variance_delta[f] = -product / (deviation * deviation) / p.count;
}

__global__ void input_delta_kernel(channel_shape s, const float *x, const float *mean,
                                   const float *variance, const float *scales, const float *biases,
                                   curve activation, const float *mean_delta,
                                   const float *variance_delta, float *delta)
{
    int f = blockIdx.x % s.channels;
    float md = mean_delta[f];
    float vd = variance_delta[f];
    normalizer n = get_normalizer(f, mean, variance, scales, biases, activation);
    for_values(
        s, f, blockIdx.x / s.channels, [&](size_t i) { return make_float2(x[i], delta[i]); },
        [&](size_t i, float2 value) {
            delta[i] =
                n.scale
                * (activation_input_delta(value.y, value.x, n) + vd * (value.x - n.mean) + md);
        });
}

// In layers of several time steps, the statistics are those of the last step: no other step's
// output can be computed again.
static int get_curve_of(layer l, curve *f)
{
    int found = get_curve(l.activation, f) && l.steps < 2;
    if (!found)
        get_curve(LINEAR, f);
    return found;
}

// of all processes' mini-batches together
static void measure_jointly(layer l, network net, part_sums s, float keep, float take)
{
    mean_variance_kernel<<<join_blocks(s), THREADS>>>(s, l.mean_gpu, l.variance_gpu, 1, 1, 0,
                                                      l.rolling_mean_gpu, l.rolling_variance_gpu);
    check_error(cudaPeekAtLastError());
    net.statistics->settle(net.statistics->ctx);
    cuda_pull_array(l.mean_gpu, l.mean, s.channels);
    cuda_pull_array(l.variance_gpu, l.variance, s.channels);
    join_statistics(l, net);
    cuda_push_array(l.mean_gpu, l.mean, s.channels);
    cuda_push_array(l.variance_gpu, l.variance, s.channels);
    scal_gpu(s.channels, keep, l.rolling_mean_gpu, 1);
    axpy_gpu(s.channels, take, l.mean_gpu, 1, l.rolling_mean_gpu, 1);
    scal_gpu(s.channels, keep, l.rolling_variance_gpu, 1);
    axpy_gpu(s.channels, take, l.variance_gpu, 1, l.rolling_variance_gpu, 1);
}

void join_moments_gpu(layer l, network net, part_sums p)
{
    int v4 = net.yolo_math_v4;
    float keep = v4 ? .9f : .99f, take = v4 ? .1f : .01f;
    if (net.statistics)
        measure_jointly(l, net, p, keep, take);
    else
        mean_variance_kernel<<<join_blocks(p), THREADS>>>(
            p, l.mean_gpu, l.variance_gpu, p.count - 1, keep, take, l.rolling_mean_gpu,
            l.rolling_variance_gpu);
    check_error(cudaPeekAtLastError());
}

void normalize_channels_gpu(layer l, network net)
{
    int train = net.train;
    channel_shape s = get_channels(l);
    int blocks = s.parts * s.channels;
    float *mean = train ? l.mean_gpu : l.rolling_mean_gpu;
    float *variance = train ? l.variance_gpu : l.rolling_variance_gpu;
    curve activation;
    int activated = get_curve_of(l, &activation);
    if (train) {
        moments_kernel<<<blocks, THREADS>>>(s, l.x_gpu, l.mean_delta_gpu, l.variance_delta_gpu);
        check_error(cudaPeekAtLastError());
        join_moments_gpu(l, net, get_part_sums(l));
    }
    normalize_channels_kernel<<<blocks, THREADS>>>(s, l.x_gpu, mean, variance, l.scales_gpu,
                                                   l.biases_gpu, activation, l.output_gpu);
    check_error(cudaPeekAtLastError());
    if (!activated)
        activate_array_gpu(l.output_gpu, l.outputs * l.batch, l.activation);
}

void join_delta_sums_gpu(layer l, network net, part_sums p)
{
    scale_bias_updates_kernel<<<join_blocks(p), THREADS>>>(p, l.variance_gpu, l.bias_updates_gpu,
                                                           l.scale_updates_gpu, l.mean_delta_gpu,
                                                           l.variance_delta_gpu);
    check_error(cudaPeekAtLastError());
    if (!net.train || !net.statistics)
        return;
    net.statistics->settle(net.statistics->ctx);
    cuda_pull_array(l.mean_delta_gpu, l.mean_delta, p.channels);
    cuda_pull_array(l.variance_delta_gpu, l.variance_delta, p.channels);
    net.statistics->average(net.statistics->ctx, p.channels, l.mean_delta, l.variance_delta);
    cuda_push_array(l.mean_delta_gpu, l.mean_delta, p.channels);
    cuda_push_array(l.variance_delta_gpu, l.variance_delta, p.channels);
}

void backward_channels_gpu(layer l, network net)
{
    channel_shape s = get_channels(l);
    int blocks = s.parts * s.channels;
    curve activation;
    if (!get_curve_of(l, &activation))
        gradient_array_gpu(l.output_gpu, l.outputs * l.batch, l.activation, l.delta_gpu);
    delta_sums_kernel<<<blocks, THREADS>>>(s, l.x_gpu, l.delta_gpu, l.mean_gpu, l.variance_gpu,
                                           l.scales_gpu, l.biases_gpu, activation, l.mean_delta_gpu,
                                           l.variance_delta_gpu);
    check_error(cudaPeekAtLastError());
    join_delta_sums_gpu(l, net, get_part_sums(l));
    input_delta_kernel<<<blocks, THREADS>>>(s, l.x_gpu, l.mean_gpu, l.variance_gpu, l.scales_gpu,
                                            l.biases_gpu, activation, l.mean_delta_gpu,
                                            l.variance_delta_gpu, l.delta_gpu);
    check_error(cudaPeekAtLastError());
}
