/* base/philox.h: Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
 * "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. */
#ifndef DDP_BASE_PHILOX_H
#define DDP_BASE_PHILOX_H

#include <stdint.h>

/* The generator is compiled for the host and for GPUs from the same code. */
#ifdef __CUDACC__
#define DDP_PHILOX_PLACE __host__ __device__
#else
#define DDP_PHILOX_PLACE
#endif

enum { DDP_PHILOX_ROUNDS = 10 };

/* Write 128 random bits to out. They depend on counter and key alone. For one key, different
 * counters give different bits. out may be counter. Any thread. */
DDP_PHILOX_PLACE static inline void ddp_philox(const uint32_t counter[4], const uint32_t key[2],
                                               uint32_t out[4])
{
    uint32_t c0 = counter[0];
    uint32_t c1 = counter[1];
    uint32_t c2 = counter[2];
    uint32_t c3 = counter[3];
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];

    for (int i = 0; i < DDP_PHILOX_ROUNDS; i++) {
        uint64_t product0 = (uint64_t)c0 * 0xd2511f53U;
        uint64_t product1 = (uint64_t)c2 * 0xcd9e8d57U;

        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)product1;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)product0;
        k0 += 0x9e3779b9U;
        k1 += 0xbb67ae85U;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

#endif
