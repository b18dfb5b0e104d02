/* device/float8.h: float32 from and to 8 bits, in blocks.
 *
 * A block is DDP_WIRE_BLOCK floats that stand side by side; the last one of an array may have
 * fewer. It is packed as one byte, its exponent, and a byte for each float: a sign, 4 bits of
 * exponent and 3 of mantissa (e4m3). The block's exponent e is that of its largest float, or -94 if
 * that is more. So floats keep 4 binary digits down to 2^(e-14); smaller ones have steps of
 * 2^(e-17).
 *
 * In a packed array the exponents of all blocks come first, and then the bytes of all floats.
 *
 * Rounding is to nearest, ties to even. Rounding again changes nothing, since the exponent is that
 * of the largest float after it was rounded. A block with a number that is not finite, or becomes
 * so by rounding, is all NaN. Results are the same on every processor, also on one that flushes
 * denormals. */
#ifndef DDP_DEVICE_FLOAT8_H
#define DDP_DEVICE_FLOAT8_H

#include <stddef.h>
#include <stdint.h>

enum { DDP_WIRE_BLOCK = 16 }; /* floats of a block */

/* Return how many bytes `count` floats take, packed. */
static inline size_t ddp_float8_bytes(size_t count)
{
    return count + (count + DDP_WIRE_BLOCK - 1) / DDP_WIRE_BLOCK;
}

/* Round x[0..count) in place, as packing and unpacking it would. The first block begins at x. */
void ddp_float8_round(float *x, size_t count);

/* Round `count` floats and pack them into ddp_float8_bytes(count) bytes. Nothing overlaps. */
void ddp_float8_pack(uint8_t *to, const float *from, size_t count);
/* Unpack `count` floats that ddp_float8_pack has packed. Nothing overlaps. */
void ddp_float8_unpack(float *to, const uint8_t *from, size_t count);

#endif
