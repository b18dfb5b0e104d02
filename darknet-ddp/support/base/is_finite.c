#include "base/is_finite.h"

/* Numbers are checked in blocks: one at the start of a large array that is not finite is found
 * soon. */
enum { BLOCK = 4096 };

/* Put the bits of count floats together. x may have any alignment, as in a file that was read. */
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
        if (!ddp_bits_are_finite(bits_of(at, BLOCK)))
            return 0;
    return ddp_bits_are_finite(bits_of(at, count));
}
