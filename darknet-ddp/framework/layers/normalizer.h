/* layers/normalizer.h: formulas for kernels of batch normalisation, for values of float or bf16. */
#ifndef NORMALIZER_H
#define NORMALIZER_H
#include "layers/channel_reduce.h"

// The mean of `count` values, and `squares`, the sum of their squared distances from it.
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

// Maps an input x of one channel to its output: scale*(x - mean) + bias, then the activation. scale
// includes the division by the standard deviation.
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

// Return the activation's input for x, a result of the convolution (or input of a [batchnorm]).
static inline __device__ float normalize(float x, normalizer n)
{
    return fmaf(x - n.mean, n.scale, n.bias);
}

// Return the gradient of the loss by the activation's input. x: this input before it was
// normalized. delta: the gradient by the activation's output.
static inline __device__ float delta_behind(float delta, float x, normalizer n)
{
    return is_straight(n.activation) ? delta : delta * gradient_on(n.activation, normalize(x, n));
}

#endif
