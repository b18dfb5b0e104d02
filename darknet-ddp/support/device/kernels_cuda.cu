#include "device/kernels_cuda.h"

#include "base/is_finite.h"
#include "device/sum.h"

#include <cuda_runtime.h>

/* Every kernel strides over its range, so that a grid has no more blocks than this. */
static const unsigned threads = 256, most_blocks = 4096;

struct values {
    float value[DDP_CUDA_VALUES];
};

struct additions {
    unsigned char after[DDP_CUDA_NODES];
};

static unsigned blocks_for(size_t count)
{
    size_t blocks = (count + threads - 1) / threads;

    return blocks < most_blocks ? (unsigned)blocks : most_blocks;
}

__global__ void ddp_set_kernel(float *x, struct values v, unsigned count)
{
    if (threadIdx.x < count)
        x[threadIdx.x] = v.value[threadIdx.x];
}

__global__ void ddp_add_kernel(float *sum, const float *more, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        sum[i] += more[i];
}

__global__ void ddp_scale_kernel(float *x, double factor, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        x[i] = (float)(factor * (double)x[i]);
}

/* Without fused multiply-add, as on the host. */
__global__ void ddp_compose_kernel(float *x, double keep, const float *more, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        x[i] = (float)__dadd_rn(__dmul_rn(keep, (double)x[i]), (double)more[i]);
}

__global__ void ddp_sum_nodes_kernel(float *sums, const float *nodes, size_t stride, int node_count,
                                     struct additions additions, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        float stack[DDP_SUM_NODES_MAX + 1];
        int top = 0;

        for (int p = 0; p < node_count; p++) {
            float sum = nodes[(size_t)p * stride + i];

            for (int left = additions.after[p]; left > 0; left--)
                sum = stack[--top] + sum;
            stack[top++] = sum;
        }
        for (int k = 0; k < top; k++)
            sums[(size_t)k * count + i] = stack[k];
    }
}

__global__ void ddp_pack_kernel(uint16_t *to, const float *from, size_t count, ddp_wire wire)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = ddp_to_half(from[i], wire);
}

__global__ void ddp_unpack_kernel(float *to, const uint16_t *from, size_t count, ddp_wire wire)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = ddp_from_half(from[i], wire);
}

__global__ void ddp_check_finite_kernel(const float *x, size_t count, unsigned *flag,
                                        unsigned number)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned bits = 0;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        bits |= ddp_finite_bits(x[i]);
    if (!ddp_bits_are_finite(bits))
        *flag = number;
}

/* Mix by the last step of splitmix64: each bit of the element and of its place changes half of all
 * bits. */
__device__ static uint64_t mixed(uint64_t place, unsigned bits)
{
    uint64_t x = (place << 32 | bits) + 0x9e3779b97f4a7c15ULL * (place + 1);

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

/* Write one number for each block of threads. */
__global__ void ddp_checksum_kernel(const unsigned *x, size_t count, uint64_t *sums)
{
    __shared__ uint64_t shared[256];
    size_t step = (size_t)gridDim.x * blockDim.x;
    uint64_t sum = 0;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        sum += mixed(i, x[i]);
    shared[threadIdx.x] = sum;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = shared[0];
}

cudaError_t ddp_cuda_set(cudaStream_t stream, float *x, const float *host, size_t count)
{
    struct values v;

    for (size_t i = 0; i < count; i++)
        v.value[i] = host[i];
    ddp_set_kernel<<<1, DDP_CUDA_VALUES, 0, stream>>>(x, v, (unsigned)count);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_add(cudaStream_t stream, float *sum, const float *more, size_t count)
{
    ddp_add_kernel<<<blocks_for(count), threads, 0, stream>>>(sum, more, count);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_scale(cudaStream_t stream, float *x, double factor, size_t count)
{
    ddp_scale_kernel<<<blocks_for(count), threads, 0, stream>>>(x, factor, count);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_compose(cudaStream_t stream, float *x, double keep, const float *more,
                             size_t count)
{
    ddp_compose_kernel<<<blocks_for(count), threads, 0, stream>>>(x, keep, more, count);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_sum_nodes(cudaStream_t stream, const struct ddp_cuda_sums *s, size_t count)
{
    struct additions additions;

    for (int p = 0; p < DDP_CUDA_NODES; p++)
        additions.after[p] = p < s->count ? s->additions[p] : 0;
    ddp_sum_nodes_kernel<<<blocks_for(count), threads, 0, stream>>>(s->sums, s->nodes, s->stride,
                                                                    s->count, additions, count);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_pack(cudaStream_t stream, uint16_t *to, const float *from, size_t count,
                          ddp_wire wire)
{
    ddp_pack_kernel<<<blocks_for(count), threads, 0, stream>>>(to, from, count, wire);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_unpack(cudaStream_t stream, float *to, const uint16_t *from, size_t count,
                            ddp_wire wire)
{
    ddp_unpack_kernel<<<blocks_for(count), threads, 0, stream>>>(to, from, count, wire);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_check_finite(cudaStream_t stream, const float *x, size_t count, unsigned *flag,
                                  unsigned number)
{
    ddp_check_finite_kernel<<<blocks_for(count), threads, 0, stream>>>(x, count, flag, number);
    return cudaPeekAtLastError();
}

cudaError_t ddp_cuda_checksum(cudaStream_t stream, const float *x, size_t count, uint64_t *sums)
{
    unsigned blocks = blocks_for(count);

    if (blocks > DDP_CUDA_CHECKSUMS)
        blocks = DDP_CUDA_CHECKSUMS;
    for (unsigned i = blocks; i < DDP_CUDA_CHECKSUMS; i++)
        sums[i] = 0;
    ddp_checksum_kernel<<<blocks, threads, 0, stream>>>((const unsigned *)x, count, sums);
    return cudaPeekAtLastError();
}
