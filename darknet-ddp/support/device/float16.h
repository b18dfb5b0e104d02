/* device/float16.h: float32 from and to 16 bits, rounded to nearest, ties to even, with the same
 * bits on host and GPU.
 *
 *   bf16   8 bits of exponent, 7 of mantissa: float32's range, 2 to 3 digits
 *   fp16   5 bits of exponent, 10 of mantissa: up to 65504, in steps of 2^-24 below 2^-14
 *
 * A number that is too large becomes infinite; NaN stays NaN. Conversions have no branches, so
 * compilers make vectors of them. They keep the formats' denormals on any processor.
 *
 * With -ddp_compress bf16 or fp16, gradients travel in 16 bits, with fp8 in 8 (device/float8.h).
 * Each rank's gradients are rounded before they are summed, and so is each addition (device/sum.h).
 * So packing a message (comm/wire_messages.c) loses nothing, and the result does not depend on
 * which partial sums travel. Gradients are added in a tree over ranks, so the error grows with the
 * square root of log2(ranks). Only NCCL adds 16 bits in an order of its own. Run counts that travel
 * along (core/bucket_plan.h) are rounded, too, but what is above 0 stays above 0. */
#ifndef DDP_DEVICE_FLOAT16_H
#define DDP_DEVICE_FLOAT16_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define DDP_HALF_INLINE __host__ __device__ static inline
#else
#define DDP_HALF_INLINE static inline
#endif

/* Formats in which floats travel. */
typedef enum ddp_wire {
    DDP_WIRE_FP32,
#define HALF(NAME, ...) DDP_WIRE_##NAME,
#define EIGHT(NAME, ...) DDP_WIRE_##NAME,
#include "device/half_types.def"
    DDP_WIRES
} ddp_wire;

DDP_HALF_INLINE uint32_t ddp_bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

DDP_HALF_INLINE float ddp_float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Return `yes` if `is` is 1, `no` if it is 0, without a branch. With one, compilers do not
 * vectorize a loop in which a float addition computes `yes`. */
DDP_HALF_INLINE uint32_t ddp_choose_bits(int is, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0U - (uint32_t)is;

    return (yes & mask) | (no & ~mask);
}

/* Return x as bf16. If rounding carries out of the mantissa, the exponent grows by 1, as it should.
 * A NaN is not rounded, since a carry would change it. */
DDP_HALF_INLINE uint16_t ddp_to_bf16(float x)
{
    uint32_t bits = ddp_bits_of(x);
    uint32_t nearest = bits + 0x7fffU + (bits >> 16 & 1U);
    uint32_t nan = bits | 0x00400000U;

    return (uint16_t)(ddp_choose_bits((bits & 0x7fffffffU) > 0x7f800000U, nan, nearest) >> 16);
}

DDP_HALF_INLINE float ddp_from_bf16(uint16_t half)
{
    return ddp_float_of((uint32_t)half << 16);
}

/* Return x as fp16. A number below 2^-14 is rounded by adding 0.5, since a float32 above 0.5 has
 * the same steps of 2^-24 as an fp16 below 2^-14. */
DDP_HALF_INLINE uint16_t ddp_to_fp16(float x)
{
    uint32_t bits = ddp_bits_of(x), size = bits & 0x7fffffffU;
    uint32_t half = (size - 0x38000000U + 0xfffU + (size >> 13 & 1U)) >> 13;
    uint32_t small = ddp_bits_of(ddp_float_of(size) + 0.5F) - 0x3f000000U;

    half = ddp_choose_bits(size < 0x38800000U, small, half);
    half = ddp_choose_bits(size >= 0x477ff000U, 0x7c00U, half);
    half = ddp_choose_bits(size > 0x7f800000U, 0x7e00U, half);
    return (uint16_t)(half | (bits >> 16 & 0x8000U));
}

DDP_HALF_INLINE float ddp_from_fp16(uint16_t half)
{
    uint32_t size = half & 0x7fffU, sign = (uint32_t)(half & 0x8000U) << 16;
    uint32_t bits = (size << 13) + 0x38000000U;
    uint32_t small = ddp_bits_of(ddp_float_of(size | 0x3f000000U) - 0.5F);

    bits = ddp_choose_bits(size < 0x400U, small, bits);
    bits = ddp_choose_bits(size >= 0x7c00U, size << 13 | 0x7f800000U, bits);
    return ddp_float_of(bits | sign);
}

/* Return x in the wire's format if that has 16 bits, else 0. */
DDP_HALF_INLINE uint16_t ddp_to_half(float x, ddp_wire wire)
{
#define HALF(NAME, name, ...)                                                                      \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        return ddp_to_##name(x);
#include "device/half_types.def"
    return 0;
}

/* Return the float that ddp_to_half has packed into `half`; 0 if the format has not 16 bits. */
DDP_HALF_INLINE float ddp_from_half(uint16_t half, ddp_wire wire)
{
#define HALF(NAME, name, ...)                                                                      \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        return ddp_from_##name(half);
#include "device/half_types.def"
    return 0;
}

/* Return x rounded to the wire's format, which is not DDP_WIRE_FP8. */
DDP_HALF_INLINE float ddp_wire_rounded(float x, ddp_wire wire)
{
    return wire == DDP_WIRE_FP32 ? x : ddp_from_half(ddp_to_half(x, wire), wire);
}

#endif
