/* device/wire.h: rounds, packs and unpacks arrays of floats for messages between ranks. They travel
 * as float32, in 16 bits (device/float16.h), or in 8 bits by blocks (device/float8.h). */
#ifndef DDP_DEVICE_WIRE_H
#define DDP_DEVICE_WIRE_H

#include "device/float16.h"
#include "device/float8.h"

#include <stddef.h>

/* Return how many bytes `count` floats take on the wire. */
static inline size_t ddp_wire_bytes(ddp_wire wire, size_t count)
{
    if (wire == DDP_WIRE_FP8)
        return ddp_float8_bytes(count);
    return count * (wire == DDP_WIRE_FP32 ? sizeof(float) : sizeof(uint16_t));
}

/* Return how many bytes a float takes on the wire, as a mean over a whole block. */
static inline double ddp_wire_mean_bytes(ddp_wire wire)
{
    return (double)ddp_wire_bytes(wire, DDP_WIRE_BLOCK) / DDP_WIRE_BLOCK;
}

/* Cut `count` floats into n slices, as even as whole blocks can be, and return the index at which
 * slice i begins; for i = n return count. With fewer than n blocks some slices are empty. */
static inline size_t ddp_wire_slice(size_t count, size_t i, size_t n)
{
    size_t begin = (count + DDP_WIRE_BLOCK - 1) / DDP_WIRE_BLOCK * i / n * DDP_WIRE_BLOCK;

    return begin < count ? begin : count;
}

/* Return the format's name: "fp32", "bf16". */
const char *ddp_wire_name(ddp_wire wire);

/* Return the largest finite number of the format; 0 if it has float32's range, or nearly. */
float ddp_wire_most(ddp_wire wire);

/* Round x[0..count) to the wire's format. The first block begins at x. */
void ddp_wire_round(float *x, size_t count, ddp_wire wire);

/* Round `count` floats to the wire's format and pack them into ddp_wire_bytes(wire, count) bytes,
 * aligned as uint16_t. Not for DDP_WIRE_FP32. Nothing overlaps. */
void ddp_wire_pack(void *to, const float *from, size_t count, ddp_wire wire);
/* Unpack `count` floats that ddp_wire_pack has packed. Not for DDP_WIRE_FP32. Nothing overlaps. */
void ddp_wire_unpack(float *to, const void *from, size_t count, ddp_wire wire);

#endif
