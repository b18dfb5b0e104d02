#include "device/sum.h"

#include "base/is_finite.h"
#include "base/simd.h"
#include "device/float8.h"

/* Elements of an input that are summed at a time: two such blocks stay in the first cache. */
enum { BLOCK = 2048 };
_Static_assert((int)BLOCK % (int)DDP_WIRE_BLOCK == 0, "a block of float8.h is rounded at once");

/* The arguments of ddp_sum_range. */
struct range {
    int size, begin, end, own;
    ddp_wire wire;
};

/* Inlined for each format, so that the loop becomes vectors. */
DDP_ALWAYS_INLINE void add_as(float *restrict dst, const float *restrict src, size_t count,
                              ddp_wire wire)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = ddp_wire_rounded(dst[i] + src[i], wire);
}

DDP_TARGET_CLONES
static void add_block(float *restrict dst, const float *restrict src, size_t count, ddp_wire wire)
{
    if (wire == DDP_WIRE_FP32)
        add_as(dst, src, count, DDP_WIRE_FP32);
#define HALF(NAME, ...)                                                                            \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        add_as(dst, src, count, DDP_WIRE_##NAME);
#define EIGHT(NAME, ...)                                                                           \
    if (wire == DDP_WIRE_##NAME) {                                                                 \
        add_as(dst, src, count, DDP_WIRE_FP32);                                                    \
        ddp_float8_round(dst, count);                                                              \
    }
#include "device/half_types.def"
}

/* Make the last addition of a sum. Returns ddp_finite_bits of all sums, put together. */
DDP_ALWAYS_INLINE uint32_t add_last_as(float *restrict dst, const float *restrict src, size_t count,
                                       ddp_wire wire)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        float sum = ddp_wire_rounded(dst[i] + src[i], wire);

        bits |= ddp_finite_bits(sum);
        dst[i] = sum;
    }
    return bits;
}

DDP_ALWAYS_INLINE uint32_t finite_bits(const float *x, size_t count)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < count; i++)
        bits |= ddp_finite_bits(x[i]);
    return bits;
}

DDP_TARGET_CLONES
static uint32_t add_last_block(float *restrict dst, const float *restrict src, size_t count,
                               ddp_wire wire)
{
#define HALF(NAME, ...)                                                                            \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        return add_last_as(dst, src, count, DDP_WIRE_##NAME);
#define EIGHT(NAME, ...)                                                                           \
    if (wire == DDP_WIRE_##NAME) {                                                                 \
        add_as(dst, src, count, DDP_WIRE_FP32);                                                    \
        ddp_float8_round(dst, count);                                                              \
        return finite_bits(dst, count);                                                            \
    }
#include "device/half_types.def"
    return add_last_as(dst, src, count, DDP_WIRE_FP32);
}

/* Return which of the inputs first..first+n holds their sum: `own` if it is among them (a + b is b
 * + a), which saves the copy at the end. */
static int holder(int first, int n, int own)
{
    return own >= first && own < first + n ? own : first;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Sum a block, from the leaves up: the tree that splits at powers of two. Returns ddp_finite_bits
 * of sums of all ranks, put together. */
static uint32_t sum_block(float *const *inputs, const struct range *range, size_t at, size_t count)
{
    int size = range->size, begin = range->begin, end = range->end, own = range->own;
    uint32_t bits = 0;

    for (int n = 1; n < size; n *= 2)
        for (int first = (begin + 2 * n - 1) / (2 * n) * 2 * n;
             first + n < size && least(first + 2 * n, size) <= end; first += 2 * n) {
            int left = holder(first, n, own);
            int right = holder(first + n, n, own);
            float *dst;
            const float *src;

            if (!inputs[right]) /* both are in a node that was given */
                continue;
            dst = inputs[right == own ? right : left] + at;
            src = inputs[right == own ? left : right] + at;
            if (2 * n >= size)
                bits = add_last_block(dst, src, count, range->wire);
            else
                add_block(dst, src, count, range->wire);
        }
    return bits;
}

int ddp_sum_range(float *const *inputs, int size, int begin, int end, int own, size_t count,
                  ddp_wire wire)
{
    const struct range range = {size, begin, end, own, wire};
    uint32_t bits = 0;

    if (size == 1)
        return ddp_all_finite(inputs[0], count);
    for (size_t at = 0; at < count; at += BLOCK)
        bits |= sum_block(inputs, &range, at, count - at < BLOCK ? count - at : BLOCK);
    return ddp_bits_are_finite(bits);
}

int ddp_sum_tree(float *const *inputs, int size, int own, size_t count, ddp_wire wire)
{
    return ddp_sum_range(inputs, size, 0, size, own, count, wire);
}

int ddp_sum_nodes(int size, int begin, int end, int *firsts)
{
    int nodes = 0;

    for (int first = begin; first < end;) {
        int n = 1;

        while (n < size && first % (2 * n) == 0 && least(first + 2 * n, size) <= end)
            n *= 2;
        firsts[nodes++] = first;
        first = least(first + n, size);
    }
    return nodes;
}

/* Return 1 if the nodes a..b and b..end make one node. */
static int are_siblings(int size, int a, int b, int end)
{
    int n = b - a;

    return (n & (n - 1)) == 0 && a % (2 * n) == 0 && end == least(a + 2 * n, size);
}

int ddp_sum_stack(int size, const int *firsts, int count, int end, unsigned char *additions)
{
    int stack[DDP_SUM_NODES_MAX + 1], top = 0;

    for (int i = 0; i < count; i++) {
        int node_end = i + 1 < count ? firsts[i + 1] : end;

        stack[top++] = firsts[i];
        for (additions[i] = 0;
             top > 1 && are_siblings(size, stack[top - 2], stack[top - 1], node_end); top--)
            additions[i]++;
    }
    return top;
}
