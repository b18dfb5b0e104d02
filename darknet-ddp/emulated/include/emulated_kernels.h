/* emulated/include/emulated_kernels.h: names that nvcc knows, so that a C++ compiler compiles
 * kernels. translate.py puts this file before a file of kernels, and turns
 *    kernel<<<grid, block, shared, stream>>>(arguments)    into
 *    emulated::launcher(EMULATED_NAMED(kernel), grid, block, shared, stream)(arguments)
 * Arguments are evaluated and copied at the launch. A kernel's threads run then or later, one at a
 * time (kernel.cpp). */
#ifndef EMULATED_KERNELS_H
#define EMULATED_KERNELS_H

#include "cuda_runtime_api.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __constant__
/* Shared memory of a block: one for each thread of the host, which runs one block at a time. */
#define __shared__ static thread_local

namespace emulated
{

/* Where a kernel's thread is in the grid; `here` is that of the running thread. */
struct place {
    uint3 thread, block, block_size, grid_size;
};
extern __thread place here;

#define EMULATED_NAMED(...) #__VA_ARGS__, __VA_ARGS__

/* Queue a kernel, each of whose threads calls body(). If it cannot be launched, cudaGetLastError
 * returns why. */
void launch(const char *name, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
            std::function<void()> body);

void *dynamic_shared();
void wait_for_block();
/* Give `value` to the other threads of the warp that are in `mask`. Wait until each of them has
 * called this or ended, then return the value of thread `lane`. */
uint64_t exchange(unsigned mask, uint64_t value, unsigned lane);
unsigned lane_id();

template <class... P> struct typed_launcher {
    const char *name;
    void (*kernel)(P...);
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;

    void operator()(P... arguments) const
    {
        launch(name, grid, block, shared_bytes, stream,
               [k = kernel, arguments...]() { k(arguments...); });
    }
};

template <class... P>
typed_launcher<P...> launcher(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                              size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    return {name, kernel, grid, block, shared_bytes, stream};
}

template <class T> T shuffle(unsigned mask, T value, unsigned lane)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves 4 or 8 bytes");
    uint64_t bits = 0;

    std::memcpy(&bits, &value, sizeof value);
    bits = exchange(mask, bits, lane);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace emulated

#define threadIdx (emulated::here.thread)
#define blockIdx (emulated::here.block)
#define blockDim (emulated::here.block_size)
#define gridDim (emulated::here.grid_size)
#define warpSize 32

#define __syncthreads() emulated::wait_for_block()
#define __threadfence() ((void)0)

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    (void)emulated::exchange(mask, 0, emulated::lane_id());
}

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    unsigned lane = emulated::lane_id(), first = lane - lane % (unsigned)width;

    return emulated::shuffle(mask, value, first + (unsigned)source % (unsigned)width);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = emulated::lane_id(), n = (unsigned)width;

    return emulated::shuffle(mask, value, lane % n + delta < n ? lane + delta : lane);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = emulated::lane_id(), n = (unsigned)width;

    return emulated::shuffle(mask, value, lane % n >= delta ? lane - delta : lane);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    unsigned lane = emulated::lane_id(), other = lane ^ (unsigned)bits;

    return emulated::shuffle(mask, value,
                             other / (unsigned)width <= lane / (unsigned)width ? other : lane);
}

/* Add atomically, since kernels of two streams may run on two threads of the host. */
static inline int atomicAdd(int *x, int value)
{
    return __atomic_fetch_add(x, value, __ATOMIC_RELAXED);
}

static inline unsigned atomicAdd(unsigned *x, unsigned value)
{
    return __atomic_fetch_add(x, value, __ATOMIC_RELAXED);
}

static inline float atomicAdd(float *x, float value)
{
    float old, sum;

    __atomic_load(x, &old, __ATOMIC_RELAXED);
    do {
        sum = old + value;
    } while (!__atomic_compare_exchange(x, &old, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class T> T __ldg(const T *x)
{
    return *x;
}

struct alignas(8) float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};

static inline float2 make_float2(float x, float y)
{
    return {x, y};
}

static inline float3 make_float3(float x, float y, float z)
{
    return {x, y, z};
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

/* Compute one sum or product, which the compiler must not fuse or reorder. */
static inline double __dadd_rn(double a, double b)
{
    volatile double sum = a + b;
    return sum;
}

static inline double __dmul_rn(double a, double b)
{
    volatile double product = a * b;
    return product;
}

static inline float __fadd_rn(float a, float b)
{
    volatile float sum = a + b;
    return sum;
}

static inline float __fmul_rn(float a, float b)
{
    volatile float product = a * b;
    return product;
}

#define __expf expf
#define __logf logf
#define __powf powf
#define __fdividef(a, b) ((a) / (b))

static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

static inline int min(int a, int b)
{
    return a < b ? a : b;
}

static inline int max(int a, int b)
{
    return a > b ? a : b;
}

static inline float min(float a, float b)
{
    return fminf(a, b);
}

static inline float max(float a, float b)
{
    return fmaxf(a, b);
}

#endif
