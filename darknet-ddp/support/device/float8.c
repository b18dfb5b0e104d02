#include "device/float8.h"

#include "base/simd.h"
#include "device/float16.h"

#include <math.h>

/* Exponents are those of float32: of 2^e it is e + 127. */
enum {
    MANTISSA = 23,             /* bits of mantissa of float32 */
    DROPPED = MANTISSA - 3,    /* bits of them that do not travel */
    TOP = 127 + 8,             /* exponent of the largest numbers, in a block's units */
    LEAST = TOP - 14,          /* exponent of the smallest ones that keep all bits */
    LEAST_OF_BLOCK = 127 - 94, /* smallest exponent of a block */
    NOT_FINITE = 255           /* exponent of a block that is NaN */
};

enum { BLOCK = DDP_WIRE_BLOCK, BLOCKS = 64 }; /* floats of a block, and blocks packed at a time */

/* Return the bits of x, which is not negative, rounded to the bits that travel. */
DDP_ALWAYS_INLINE uint32_t rounded_bits(uint32_t bits)
{
    return bits + (1U << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1U);
}

/* Return the exponent of a block of `count` floats. */
DDP_ALWAYS_INLINE uint32_t exponent_of(const float *x, size_t count)
{
    uint32_t most = 0, exponent;

    for (size_t i = 0; i < count; i++) {
        uint32_t size = ddp_bits_of(x[i]) & 0x7fffffffU;

        most = most < size ? size : most;
    }
    exponent = rounded_bits(most) >> MANTISSA;
    if (exponent >= NOT_FINITE)
        return NOT_FINITE;
    return exponent < LEAST_OF_BLOCK ? (uint32_t)LEAST_OF_BLOCK : exponent;
}

/* Return the float that has this exponent and no mantissa. */
DDP_ALWAYS_INLINE float power(uint32_t exponent)
{
    return ddp_float_of(exponent << MANTISSA);
}

/* Return x, which is in the block's units, rounded. Below the smallest number that keeps all bits,
 * adding a number whose last place is a step rounds to steps. */
DDP_ALWAYS_INLINE float rounded(float x)
{
    const float steps = power(LEAST + DROPPED);
    uint32_t bits = ddp_bits_of(x), size = bits & 0x7fffffffU;
    uint32_t kept = rounded_bits(size) & ~((1U << DROPPED) - 1);
    uint32_t small = ddp_bits_of((ddp_float_of(size) + steps) - steps);
    uint32_t is_small = size < (uint32_t)LEAST << MANTISSA;

    return ddp_float_of(ddp_choose_bits((int)is_small, small, kept) | (bits & 0x80000000U));
}

/* Return the bits, but the sign's, of a rounded number below the smallest that keeps all bits:
 * how many steps it has. Adding the smallest one makes them bits of a mantissa. */
DDP_ALWAYS_INLINE uint32_t to_byte(float x)
{
    const uint32_t bias = (uint32_t)(LEAST - 1) << MANTISSA, least = (uint32_t)LEAST << MANTISSA;
    uint32_t bits = ddp_bits_of(x), size = bits & 0x7fffffffU;
    uint32_t small = ddp_bits_of(ddp_float_of(size) + ddp_float_of(least)) - least;
    uint32_t is_small = size < least;

    return ddp_choose_bits((int)is_small, small, size - bias) >> DROPPED | (bits >> 24 & 0x80U);
}

/* Return the float, in the block's units, that a byte stands for. */
DDP_ALWAYS_INLINE float from_byte(uint32_t byte)
{
    const uint32_t bias = (uint32_t)(LEAST - 1) << MANTISSA, least = (uint32_t)LEAST << MANTISSA;
    uint32_t size = byte & 0x7fU, sign = (byte & 0x80U) << 24;
    uint32_t bits = (size << DROPPED) + bias;
    uint32_t small = ddp_bits_of(ddp_float_of(size << DROPPED | least) - ddp_float_of(least));

    return ddp_float_of(ddp_choose_bits(size < 8, small, bits) | sign);
}

/* Return the number by which floats of a block are multiplied to be in its units. */
DDP_ALWAYS_INLINE float to_units(uint32_t exponent)
{
    return exponent == NOT_FINITE ? NAN : power(127 + TOP - exponent);
}

/* Return the block's unit. */
DDP_ALWAYS_INLINE float unit_of(uint32_t exponent)
{
    return exponent == NOT_FINITE ? NAN : power(127 + exponent - TOP);
}

DDP_ALWAYS_INLINE void round_block(float *x, size_t count)
{
    uint32_t exponent = exponent_of(x, count);
    float in = to_units(exponent), out = unit_of(exponent);

    for (size_t i = 0; i < count; i++)
        x[i] = rounded(x[i] * in) * out;
}

/* Write the bytes of a block to bytes[0..count), and return its exponent. */
DDP_ALWAYS_INLINE uint32_t pack_block(uint32_t *restrict bytes, const float *restrict x,
                                      size_t count)
{
    uint32_t exponent = exponent_of(x, count);
    float in = to_units(exponent);

    for (size_t i = 0; i < count; i++)
        bytes[i] = to_byte(rounded(x[i] * in));
    return exponent;
}

DDP_ALWAYS_INLINE void unpack_block(float *restrict to, const uint8_t *restrict from,
                                    uint32_t exponent, size_t count)
{
    uint32_t bytes[BLOCK];
    float out = unit_of(exponent);

    for (size_t i = 0; i < count; i++)
        bytes[i] = from[i];
    for (size_t i = 0; i < count; i++)
        to[i] = from_byte(bytes[i]) * out;
}

/* ---- arrays: all blocks but the last have a constant number of floats ---- */

static size_t blocks_of(size_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

DDP_TARGET_CLONES
void ddp_float8_round(float *x, size_t count)
{
    size_t at = 0;

    for (; at + BLOCK <= count; at += BLOCK)
        round_block(x + at, BLOCK);
    round_block(x + at, count - at);
}

/* Pack up to BLOCKS blocks: as words first, of which compilers make vectors. */
DDP_ALWAYS_INLINE void pack_blocks(uint8_t *restrict exponents, uint8_t *restrict to,
                                   const float *restrict from, size_t count)
{
    uint32_t bytes[BLOCKS * BLOCK];
    size_t at = 0;

    for (; at + BLOCK <= count; at += BLOCK)
        exponents[at / BLOCK] = (uint8_t)pack_block(bytes + at, from + at, BLOCK);
    if (at < count)
        exponents[at / BLOCK] = (uint8_t)pack_block(bytes + at, from + at, count - at);
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)bytes[i];
}

DDP_TARGET_CLONES
void ddp_float8_pack(uint8_t *to, const float *from, size_t count)
{
    uint8_t *bytes = to + blocks_of(count);

    for (size_t at = 0, most = (size_t)BLOCKS * BLOCK; at < count; at += most)
        pack_blocks(to + at / BLOCK, bytes + at, from + at, count - at < most ? count - at : most);
}

DDP_TARGET_CLONES
void ddp_float8_unpack(float *to, const uint8_t *from, size_t count)
{
    const uint8_t *bytes = from + blocks_of(count);
    size_t at = 0;

    for (; at + BLOCK <= count; at += BLOCK)
        unpack_block(to + at, bytes + at, from[at / BLOCK], BLOCK);
    if (at < count)
        unpack_block(to + at, bytes + at, from[at / BLOCK], count - at);
}
