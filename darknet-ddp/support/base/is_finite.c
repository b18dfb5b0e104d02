#include "base/is_finite.h"

/* Read in blocks: what is not finite at the start of a large array is found soon. */
enum { BLOCK = 4096 };

/* x has any alignment, as in a file that was read. */
static inline uint32_t bits_of(const char *x, size_t count)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        float value;

        memcpy(&value, x + i * sizeof value, sizeof value);
        bits |= ddp_finite_bits(value);
    }
    return bits;
}

int ddp_all_finite(const void *x, size_t count)
{
    const char *at = x;

    for (; count >= BLOCK; count -= BLOCK, at += BLOCK * sizeof(float))
        if (!ddp_finite_told(bits_of(at, BLOCK)))
            return 0;
    return ddp_finite_told(bits_of(at, count));
}
