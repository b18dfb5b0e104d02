/* layers/normalizer.h: formulas of batch normalisation for kernels of float32 and bf16 layers. */
#ifndef NORMALIZER_H
#define NORMALIZER_H
#include "layers/channel_reduce.h"

// Mean of `count` values, and the sum of their squared distances from it (squares).
typedef struct {
    float count, mean, squares;
} moments;

static inline __device__ moments join_moments(moments a, moments b)
{
    if (b.count == 0)
        return a;
    float share = b.count / (a.count + b.count);
    float d = b.mean - a.mean;
    a.mean += d * share;
    a.squares += b.squares + d * d * a.count * share;
    a.count += b.count;
    return a;
}

// Batch normalisation of one channel. It maps input x to activation(scale*(x - mean) + bias).
// `scale` is the layer's scale divided by the standard deviation.
typedef struct {
    float mean, scale, bias;
    curve activation;
} normalizer;

// Return the normalizer of channel f.
static inline __device__ normalizer get_normalizer(int f, const float *mean, const float *variance,
                                                   const float *scales, const float *biases,
                                                   curve activation)
{
    normalizer n = {mean[f], scales[f], biases[f], activation};
    n.scale /= channel_deviation(variance[f]);
    return n;
}

// Return the activation's input for x, the input of batch normalisation.
static inline __device__ float normalize(float x, normalizer n)
{
    return fmaf(x - n.mean, n.scale, n.bias);
}

// Return the gradient of the activation's input, from `delta`, the gradient of its output. `x`: the
// input of batch normalisation.
static inline __device__ float activation_input_delta(float delta, float x, normalizer n)
{
    return is_identity(n.activation) ? delta
                                     : delta * curve_gradient(n.activation, normalize(x, n));
}

#endif
