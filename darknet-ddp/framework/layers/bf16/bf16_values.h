/* layers/bf16/bf16_values.h: helpers of kernels that compute on NHWC arrays of bf16. A thread
 * computes a pack at a time: V values side by side, V channels of one pixel. V is 1 or 8. 8 is
 * one memory access, and must divide all numbers of channels. */
#ifndef BF16_VALUES_H
#define BF16_VALUES_H

#include <cuda_bf16.h>
#include <stdint.h>
#include <type_traits>

#include "layers/channel_reduce.h"

typedef __nv_bfloat16 bf16;

#define VALUES_A_PACK 8

enum { ANY_KIND = -1 };

// Call launch(V, kind) to launch a kernel that is compiled for activations of one kind: LINEAR
// (also leaky and relu), MISH, or ANY_KIND for all others. Both arguments are
// std::integral_constants, so that the kernel has only the code of its kind.
template <class Values, class Launch> static void by_kind(curve f, Values values, Launch launch)
{
    if (f.kind == LINEAR)
        launch(values, std::integral_constant<int, LINEAR>());
    else if (f.kind == MISH)
        launch(values, std::integral_constant<int, MISH>());
    else
        launch(values, std::integral_constant<int, ANY_KIND>());
}

// Call launch(V) to launch a kernel for arrays of `channels` channels. V is a
// std::integral_constant.
template <class Launch> static void by_packs(int channels, Launch launch)
{
    if (channels % VALUES_A_PACK == 0)
        launch(std::integral_constant<int, VALUES_A_PACK>());
    else
        launch(std::integral_constant<int, 1>());
    check_error(cudaPeekAtLastError());
}

// Return the number of packs in an array of `values` values and `channels` channels.
static inline size_t count_packs(size_t values, int channels)
{
    return channels % VALUES_A_PACK ? values : values / VALUES_A_PACK;
}

// Call launch as by_kind does, with the V for arrays of `channels` channels.
template <class Launch> static void by_packs_and_kind(int channels, curve f, Launch launch)
{
    by_packs(channels, [&](auto values) { by_kind(f, values, launch); });
}

// Return f with kind KIND, a constant for the compiler; f itself if KIND is ANY_KIND.
template <int KIND> static __device__ __forceinline__ curve known_curve(curve f)
{
    if (KIND != ANY_KIND)
        f.kind = (ACTIVATION)KIND;
    return f;
}

template <int V> struct alignas(2 * V) pack {
    bf16 v[V];
};

template <int V> struct floats {
    float v[V];
};

// Return the pack that begins at x[i]; i is a multiple of V.
template <int V> static __device__ __forceinline__ pack<V> pack_at(const bf16 *x, size_t i)
{
    return *(const pack<V> *)(x + i);
}

template <int V> static __device__ __forceinline__ floats<V> unpacked(pack<V> p)
{
    floats<V> f;
#pragma unroll
    for (int k = 0; k < V; ++k)
        f.v[k] = __bfloat162float(p.v[k]);
    return f;
}

template <int V> static __device__ __forceinline__ floats<V> load_pack(const bf16 *x, size_t i)
{
    return unpacked(pack_at<V>(x, i));
}

template <int V> static __device__ __forceinline__ pack<V> packed(floats<V> f)
{
    pack<V> p;
#pragma unroll
    for (int k = 0; k < V; ++k)
        p.v[k] = __float2bfloat16_rn(f.v[k]);
    return p;
}

template <int V> static __device__ __forceinline__ void store_pack(bf16 *x, size_t i, floats<V> f)
{
    *(pack<V> *)(x + i) = packed(f);
}

// Write f to the pack at x[i] if `set` is 1; else add it.
template <int V>
static __device__ __forceinline__ void set_or_add_pack(bf16 *x, size_t i, floats<V> f, int set)
{
    if (!set) {
        floats<V> there = load_pack<V>(x, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            f.v[k] += there.v[k];
    }
    store_pack<V>(x, i, f);
}

// Write the activation of y to `output`, and y itself to `kept` if that is not null.
template <int V>
static __device__ __forceinline__ void store_activated(curve f, floats<V> y, size_t i, bf16 *output,
                                                       bf16 *kept)
{
    if (kept)
        store_pack<V>(kept, i, y);
#pragma unroll
    for (int k = 0; k < V; ++k)
        y.v[k] = apply_curve(f, y.v[k]);
    store_pack<V>(output, i, y);
}

// Return the gradient of the activation's input, for the pack at index i. delta: the gradient of
// its output. input: the activation's input or, where curve_gradient allows it, its output.
template <int V>
static __device__ __forceinline__ floats<V> gradient_pack(curve f, const bf16 *input,
                                                          const bf16 *delta, size_t i)
{
    floats<V> d = load_pack<V>(delta, i);
    if (is_identity(f))
        return d;
    floats<V> y = load_pack<V>(input, i);
#pragma unroll
    for (int k = 0; k < V; ++k)
        d.v[k] *= curve_gradient(f, y.v[k]);
    return d;
}

// Return alpha*a + beta*b, the input of a [shortcut]'s activation.
template <int V>
static __device__ __forceinline__ floats<V> weighted_sum(float alpha, floats<V> a, float beta,
                                                         floats<V> b)
{
#pragma unroll
    for (int k = 0; k < V; ++k)
        a.v[k] = alpha * a.v[k] + beta * b.v[k];
    return a;
}

// Return this thread's number in a launch of cuda_gridsize() blocks. It has 32 bits because those
// divide fast, and no array has more than INT_MAX values.
static __device__ __forceinline__ unsigned thread_number()
{
    return (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
}

#endif
