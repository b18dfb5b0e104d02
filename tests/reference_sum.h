/* The sum over ranks as comm/group.h states it, one element at a time, and values to sum. Most sums
 * of these have other bits in another order. */
#ifndef DDP_TESTS_REFERENCE_SUM_H
#define DDP_TESTS_REFERENCE_SUM_H

#include "device/float16.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return element i of what a rank puts into a sum: any sign, very different sizes. */
static inline float reference_value(int rank, int sum, size_t i)
{
    uint64_t h = (uint64_t)rank * 0x9E3779B97F4A7C15U + (uint64_t)sum * 0xC2B2AE3D27D4EB4FU
                 + i * 0xD6E8FEB86659FD93U + 1;

    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    return ((float)(h & 0xFFFFFF) - 8388608.0F) * (1.0F / (float)(1U << (h >> 24 & 15)));
}

/* Return x rounded to the wire's format, by arithmetic: to so many binary digits, in steps that are
 * no smaller below the smallest normal number. */
static inline float reference_rounded(ddp_wire wire, float x)
{
    int digits = wire == DDP_WIRE_BF16 ? 8 : 11, least = wire == DDP_WIRE_BF16 ? -126 : -14;
    double largest = wire == DDP_WIRE_BF16 ? ldexp(255, 120) : 65504, size;
    int exponent;

    if (wire == DDP_WIRE_FP32 || isnan(x) || isinf(x) || fpclassify(x) == FP_ZERO)
        return x;
    (void)frexp((double)x, &exponent);
    if (exponent - 1 < least)
        exponent = least + 1;
    size = ldexp(nearbyint(ldexp(fabs((double)x), digits - exponent)), exponent - digits);
    return copysignf(size > largest ? INFINITY : (float)size, x);
}

/* Return reference_value's element, made small enough for the wire. */
static inline float reference_value_on(ddp_wire wire, int rank, int sum, size_t i)
{
    return reference_value(rank, sum, i) * (wire == DDP_WIRE_FP16 ? 0x1p-14F : 1);
}

/* Return element i summed over the ranks first..first+n: the definition, word by word. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static inline float reference_sum_on(ddp_wire wire, int first, int n, int sum, size_t i)
{
    int half = 1;

    if (n == 1)
        return reference_rounded(wire, reference_value_on(wire, first, sum, i));
    while (half * 2 < n)
        half *= 2;
    return reference_rounded(wire, reference_sum_on(wire, first, half, sum, i)
                                       + reference_sum_on(wire, first + half, n - half, sum, i));
}

static inline float reference_sum(int first, int n, int sum, size_t i)
{
    return reference_sum_on(DDP_WIRE_FP32, first, n, sum, i);
}

static inline int reference_same_bits(float a, float b)
{
    uint32_t x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

#endif
