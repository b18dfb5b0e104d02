#include "comm/sum.h"

/* A block of one part: two of them stay in the first cache. */
enum { BLOCK = 2048 };

static void add(float *restrict dst, const float *restrict src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] += src[i];
}

static int largest_power_below(int n)
{
    int p = 1;

    while (p * 2 < n)
        p *= 2;
    return p;
}

/* Sum the parts first..first+n, from element `at` on. Returns the part that
 * holds the sum: `own` where it is among them (a + b is b + a), which saves the
 * copy at the end. */
static int sum_range(float *const *parts, int first, int n, int own, size_t at, size_t count)
{
    int half, left, right;

    if (n == 1)
        return first;
    half = largest_power_below(n);
    left = sum_range(parts, first, half, own, at, count);
    right = sum_range(parts, first + half, n - half, own, at, count);
    if (right == own) {
        add(parts[right] + at, parts[left] + at, count);
        return right;
    }
    add(parts[left] + at, parts[right] + at, count);
    return left;
}

void ddp_sum_tree(float *const *parts, int size, int own, size_t count)
{
    for (size_t at = 0; at < count; at += BLOCK)
        (void)sum_range(parts, 0, size, own, at, count - at < BLOCK ? count - at : BLOCK);
}
