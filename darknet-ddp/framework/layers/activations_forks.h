/* layers/activations_forks.h: activations that later forks of Darknet added, for CPU and GPU.
 * NAME_activate computes an activation, NAME_gradient its derivative. */
#ifndef ACTIVATIONS_FORKS_H
#define ACTIVATIONS_FORKS_H
#include <math.h>

#ifdef __CUDACC__
#define ON_BOTH static inline __host__ __device__
#else
#define ON_BOTH static inline
#endif

// The table of these activations. `kind`: a value of Darknet's ACTIVATION. `name`: its name in a
// cfg and in the functions below. `takes_input`: 1 if NAME_gradient needs the input x, which the
// layer then keeps. With 0, NAME_gradient may get x or the output f(x), and returns the same for
// both. Users are darknet.h, activations.c, activation_kernels.cu and channel_reduce.h.
#define FORKS_ACTIVATIONS(ROW)                                                                     \
    ROW(MISH, mish, 1)                                                                             \
    ROW(SWISH, swish, 1)                                                                           \
    ROW(HARD_MISH, hard_mish, 1)                                                                   \
    ROW(HARDSWISH, hardswish, 1)                                                                   \
    ROW(RELU6, relu6, 0)

#define KIND_ROW(kind, name, takes_input) kind,

// Cases for a switch over an activation's kind, in a function of one value x.
#define ACTIVATE_CASE(kind, name, takes_input)                                                     \
    case kind:                                                                                     \
        return name##_activate(x);
#define GRADIENT_CASE(kind, name, takes_input)                                                     \
    case kind:                                                                                     \
        return name##_gradient(x);
#define TAKES_INPUT_CASE(kind, name, takes_input)                                                  \
    case kind:                                                                                     \
        return takes_input;
#define IS_ONE_CASE(kind, name, takes_input)                                                       \
    case kind:                                                                                     \
        return 1;

// Branches for a function over arrays of n values, with activation `a`: one loop for each kind.
// GRADIENT_BRANCH multiplies delta[i] by the derivative at x[i]. KEEP_BRANCH copies x[i] to in[i],
// then replaces x[i] by its activation.
#define GRADIENT_BRANCH(kind, name, takes_input)                                                   \
    if (a == kind) {                                                                               \
        for (i = 0; i < n; ++i)                                                                    \
            delta[i] *= name##_gradient(x[i]);                                                     \
        return;                                                                                    \
    }
#define KEEP_BRANCH(kind, name, takes_input)                                                       \
    if (a == kind) {                                                                               \
        for (i = 0; i < n; ++i) {                                                                  \
            in[i] = x[i];                                                                          \
            x[i] = name##_activate(x[i]);                                                          \
        }                                                                                          \
        return;                                                                                    \
    }

// Return e = exp(x) for mish, with x limited to 20. There tanh(log(1 + e)) = n/(n + 2), n = e*(e +
// 2), which loses no digits and is 1 for large x.
ON_BOTH float mish_power(float x)
{
    return expf(x < 20 ? x : 20);
}
ON_BOTH float mish_activate(float x)
{
    float e = mish_power(x);
    float n = e * (e + 2);
    return x * (n / (n + 2));
}
ON_BOTH float mish_gradient(float x)
{
    float e = mish_power(x);
    float n = e * (e + 2);
    float inverse = 1 / (n + 2);
    return n * inverse + x * (4 * e * inverse) * ((e + 1) * inverse);
}

ON_BOTH float swish_gate(float x)
{
    return 1 / (1 + expf(x > -80 ? -x : 80));
}
ON_BOTH float swish_activate(float x)
{
    return x * swish_gate(x);
}
ON_BOTH float swish_gradient(float x)
{
    float s = swish_gate(x);
    return s + x * s * (1 - s);
}

ON_BOTH float hard_mish_activate(float x)
{
    return x > 0 ? x : x > -2 ? x * x / 2 + x : 0;
}
ON_BOTH float hard_mish_gradient(float x)
{
    return x > 0 ? 1 : x > -2 ? x + 1 : 0;
}

ON_BOTH float hardswish_activate(float x)
{
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
}
ON_BOTH float hardswish_gradient(float x)
{
    return x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
}

ON_BOTH float relu6_activate(float x)
{
    return x > 6 ? 6 : x > 0 ? x : 0;
}
ON_BOTH float relu6_gradient(float y)
{
    return y > 0 && y < 6;
}

#endif
