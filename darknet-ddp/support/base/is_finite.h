/* base/is_finite.h: finds out, by their bits, whether floats are finite: neither NaN nor infinite.
 * Comparisons would not do: options may let a compiler assume that all floats are finite. */
#ifndef DDP_BASE_IS_FINITE_H
#define DDP_BASE_IS_FINITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define DDP_FINITE_INLINE __host__ __device__ static inline
#else
#define DDP_FINITE_INLINE static inline
#endif

/* Return a word whose highest bit is 1 if x is NaN or infinite, else 0. (The exponent, all ones,
 * carries into that bit.) Join the words of many floats by |, and ask ddp_bits_are_finite. */
DDP_FINITE_INLINE uint32_t ddp_finite_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7f800000U) + 0x00800000U;
}

/* Return 1 if all floats are finite, else 0. bits: the floats' ddp_finite_bits, joined by |. */
DDP_FINITE_INLINE int ddp_bits_are_finite(uint32_t bits)
{
    return bits >> 31 == 0;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Return 1 if all `count` floats at x, which may have any alignment, are finite. */
int ddp_all_finite(const void *x, size_t count);

#ifdef __cplusplus
}
#endif

#endif
