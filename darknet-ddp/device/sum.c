#include "device/sum.h"

/* A block of one part: two of them stay in the first cache. */
enum { BLOCK = 2048 };

/* A loop of known length: compilers then use vectors without being asked to. */
static void add_block(float *restrict dst, const float *restrict src)
{
    for (size_t i = 0; i < BLOCK; i++)
        dst[i] += src[i];
}

static void add(float *restrict dst, const float *restrict src, size_t count)
{
    if (count == BLOCK) {
        add_block(dst, src);
        return;
    }
    for (size_t i = 0; i < count; i++)
        dst[i] += src[i];
}

/* The part that holds the sum of the parts first..first+n: `own` where it is
 * among them (a + b is b + a), which saves the copy at the end. */
static int holder(int first, int n, int own)
{
    return own >= first && own < first + n ? own : first;
}

/* From the leaves up, this is the tree that splits at powers of two. */
static void sum_block(float *const *parts, int size, int own, size_t at, size_t count)
{
    for (int n = 1; n < size; n *= 2)
        for (int first = 0; first + n < size; first += 2 * n) {
            int left = holder(first, n, own);
            int right = holder(first + n, n, own);

            if (right == own)
                add(parts[right] + at, parts[left] + at, count);
            else
                add(parts[left] + at, parts[right] + at, count);
        }
}

void ddp_sum_tree(float *const *parts, int size, int own, size_t count)
{
    for (size_t at = 0; at < count; at += BLOCK)
        sum_block(parts, size, own, at, count - at < BLOCK ? count - at : BLOCK);
}
