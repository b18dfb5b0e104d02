/* base/is_finite.h: are floats numbers, or NaN or infinite? By their bits, which no option of a
 * compiler's takes for granted. */
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

/* Its highest bit is set where x is NaN or infinite: the exponent, all ones, then carries into it.
 * What many elements give can be put together by |. */
DDP_FINITE_INLINE uint32_t ddp_finite_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7f800000U) + 0x00800000U;
}

DDP_FINITE_INLINE int ddp_finite_told(uint32_t bits)
{
    return bits >> 31 == 0;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Is every one of the count floats at x, which may have any alignment, a finite number? */
int ddp_all_finite(const void *x, size_t count);

#ifdef __cplusplus
}
#endif

#endif
