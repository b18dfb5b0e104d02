#include "samples/random_streams_cuda.h"

#include "base/philox.h"

#include <cuda_runtime.h>

enum { DRAWS = 4 }; /* of one block of Philox */

static const unsigned threads = 256, most_blocks = 4096;

/* draw() & RAND_MAX, over RAND_MAX as a float, which is 2^31. */
__device__ static float unit(uint32_t bits)
{
    return (float)(bits & 0x7fffffffU) / 2147483648.0f;
}

/* A thread makes one block of Philox: four draws in a row of one sample. */
__global__ void ddp_draws_kernel(float *x, size_t each, size_t samples, uint64_t seed,
                                 uint32_t topic, uint64_t first)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    size_t blocks = (each + DRAWS - 1) / DRAWS;
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < blocks * samples;
         i += step) {
        size_t sample = i / blocks, block = i % blocks;
        uint64_t number = first + sample;
        uint32_t bits[4] = {(uint32_t)block, topic, (uint32_t)number, (uint32_t)(number >> 32)};

        ddp_philox(bits, key, bits);
        for (size_t j = 0; j < DRAWS && block * DRAWS + j < each; j++)
            x[sample * each + block * DRAWS + j] = unit(bits[j]);
    }
}

cudaError_t ddp_random_streams_cuda(float *x, size_t each, size_t samples, uint64_t seed,
                                    uint32_t topic, uint64_t first)
{
    size_t blocks = ((each + DRAWS - 1) / DRAWS * samples + threads - 1) / threads;
    unsigned grid = blocks < most_blocks ? (unsigned)blocks : most_blocks;

    if (blocks == 0)
        return cudaSuccess;
    ddp_draws_kernel<<<grid, threads>>>(x, each, samples, seed, topic, first);
    return cudaPeekAtLastError();
}
