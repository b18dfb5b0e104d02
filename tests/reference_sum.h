/* The sum over ranks as comm/group.h states it, one element at a time, and values to sum. Most sums
 * of these have other bits in another order. */
#ifndef DDP_TESTS_REFERENCE_SUM_H
#define DDP_TESTS_REFERENCE_SUM_H

#include "device/float16.h"
#include "device/float8.h"

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

/* Return x rounded to the wire's format, by arithmetic: to its number of binary digits, in steps
 * that are no smaller below the smallest normal number. */
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

/* Return reference_value's element, made small enough for the wire. For blocks of 8 bits some are
 * zero, and so are whole blocks; others are very small. */
static inline float reference_value_on(ddp_wire wire, int rank, int sum, size_t i)
{
    if (wire == DDP_WIRE_FP8 && (i / DDP_WIRE_BLOCK % 7 == 3 || i % 5 == 1))
        return 0;
    if (wire == DDP_WIRE_FP8 && i / DDP_WIRE_BLOCK % 7 == 5)
        return reference_value(rank, sum, i) * 0x1p-114F;
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

/* Round a block of 8-bit floats (device/float8.h), of finite numbers, by arithmetic: to 4 binary
 * digits, in steps that are no smaller below 2^-14 of the largest one. */
static inline void reference_round_block(float *x, size_t count)
{
    int most = -94, exponent;
    double largest = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)x[i]));
    if (largest > 0) {
        (void)frexp(largest, &exponent);
        largest = ldexp(nearbyint(ldexp(largest, 4 - exponent)), exponent - 4);
        (void)frexp(largest, &exponent);
        most = exponent - 1 > most ? exponent - 1 : most;
    }
    for (size_t i = 0; i < count; i++) {
        (void)frexp((double)x[i], &exponent);
        exponent = exponent - 1 < most - 14 || x[i] == 0.0F ? most - 14 : exponent - 1;
        x[i] = (float)ldexp(nearbyint(ldexp((double)x[i], 3 - exponent)), exponent - 3);
    }
}

/* Write the block [begin, begin + count) of a sum over the ranks first..first+n to out. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static inline void reference_sum_block(float out[DDP_WIRE_BLOCK], int first, int n, int sum,
                                       size_t begin, size_t count)
{
    float other[DDP_WIRE_BLOCK];
    int half = 1;

    if (n == 1) {
        for (size_t i = 0; i < count; i++)
            out[i] = reference_value_on(DDP_WIRE_FP8, first, sum, begin + i);
        reference_round_block(out, count);
        return;
    }
    while (half * 2 < n)
        half *= 2;
    reference_sum_block(out, first, half, sum, begin, count);
    reference_sum_block(other, first + half, n - half, sum, begin, count);
    for (size_t i = 0; i < count; i++)
        out[i] += other[i];
    reference_round_block(out, count);
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
