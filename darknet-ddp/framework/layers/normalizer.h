#ifndef NORMALIZER_H
#define NORMALIZER_H
#include "layers/channel_reduce.h"

/* Formulas of the kernels of batch normalisation, whatever type a value is kept as. */

// The mean of count values, and the sum of their squared distances from it.
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

// The numbers that make an output of an input: normalize() gives it before the activation, with the
// same bits wherever it is computed.
typedef struct {
    float mean, scale, bias;
    curve activation;
} normalizer;

static inline __device__ normalizer get_normalizer(int f, const float *mean, const float *variance,
                                                   const float *scales, const float *biases,
                                                   curve activation)
{
    normalizer n = {mean[f], scales[f], biases[f], activation};
    n.scale /= channel_deviation(variance[f]);
    return n;
}

static inline __device__ float normalize(float x, normalizer n)
{
    return fmaf(x - n.mean, n.scale, n.bias);
}

// The delta before the activation, from the delta behind it.
static inline __device__ float delta_behind(float delta, float x, normalizer n)
{
    return is_straight(n.activation) ? delta : delta * gradient_on(n.activation, normalize(x, n));
}

#endif
