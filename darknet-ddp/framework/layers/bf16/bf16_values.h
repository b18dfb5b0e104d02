#ifndef BF16_VALUES_H
#define BF16_VALUES_H

#include <cuda_bf16.h>
#include <stdint.h>

/*
 * For kernels on NHWC arrays of bf16. A thread takes a pack, V channels of one cell that lie side
 * by side: 8, which are one access to memory, where the channels divide by it, else 1.
 */
typedef __nv_bfloat16 bf16;

#define VALUES_A_PACK 8

template <int V> struct alignas(2 * V) pack {
    bf16 v[V];
};

template <int V> struct floats {
    float v[V];
};

// The pack that begins at value i.
template <int V> static __device__ __forceinline__ floats<V> load_pack(const bf16 *x, size_t i)
{
    pack<V> p = *(const pack<V> *)(x + i);
    floats<V> f;
#pragma unroll
    for (int k = 0; k < V; ++k)
        f.v[k] = __bfloat162float(p.v[k]);
    return f;
}

template <int V> static __device__ __forceinline__ void store_pack(bf16 *x, size_t i, floats<V> f)
{
    pack<V> p;
#pragma unroll
    for (int k = 0; k < V; ++k)
        p.v[k] = __float2bfloat16_rn(f.v[k]);
    *(pack<V> *)(x + i) = p;
}

// set: written, else added to what is there.
template <int V>
static __device__ __forceinline__ void give_pack(bf16 *x, size_t i, floats<V> f, int set)
{
    if (!set) {
        floats<V> there = load_pack<V>(x, i);
#pragma unroll
        for (int k = 0; k < V; ++k)
            f.v[k] += there.v[k];
    }
    store_pack<V>(x, i, f);
}

// The number of this thread among all of a launch of cuda_gridsize() blocks. No array has more
// values than an int counts, and 32 bits are divided fast.
static __device__ __forceinline__ unsigned thread_number()
{
    return (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
}

#endif
