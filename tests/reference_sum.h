/* The sum over ranks as comm/group.h states it, one element at a time, and
 * values to sum: most sums of these have other bits in another order. */
#ifndef DDP_TESTS_REFERENCE_SUM_H
#define DDP_TESTS_REFERENCE_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Element i of what a rank puts into a sum: any sign, very different sizes. */
static inline float reference_value(int rank, int sum, size_t i)
{
    uint64_t h = (uint64_t)rank * 0x9E3779B97F4A7C15U + (uint64_t)sum * 0xC2B2AE3D27D4EB4FU
                 + i * 0xD6E8FEB86659FD93U + 1;

    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    return ((float)(h & 0xFFFFFF) - 8388608.0F) * (1.0F / (float)(1U << (h >> 24 & 15)));
}

/* Element i summed over the ranks first..first+n: the definition, word by word. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static inline float reference_sum(int first, int n, int sum, size_t i)
{
    int half = 1;

    if (n == 1)
        return reference_value(first, sum, i);
    while (half * 2 < n)
        half *= 2;
    return reference_sum(first, half, sum, i) + reference_sum(first + half, n - half, sum, i);
}

static inline int reference_same_bits(float a, float b)
{
    uint32_t x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

#endif
