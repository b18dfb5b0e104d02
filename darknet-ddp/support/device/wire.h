/* device/wire.h: arrays of floats as they travel: as float32, or in 16 bits (device/float16.h),
 * rounded, packed and unpacked. */
#ifndef DDP_DEVICE_WIRE_H
#define DDP_DEVICE_WIRE_H

#include "device/float16.h"

#include <stddef.h>

/* Return how many bytes a float takes on the wire. */
static inline size_t ddp_wire_bytes(ddp_wire wire)
{
    return wire == DDP_WIRE_FP32 ? sizeof(float) : sizeof(uint16_t);
}

/* Return the format's name: "fp32", "bf16". */
const char *ddp_wire_name(ddp_wire wire);

/* Return the largest finite number of the format; 0 if it has float32's range, or nearly. */
float ddp_wire_most(ddp_wire wire);

/* Round x[0..count) to the wire's format. */
void ddp_wire_round(float *x, size_t count, ddp_wire wire);

/* Round `count` floats to a 16-bit format and pack them. Not for DDP_WIRE_FP32. Nothing overlaps.
 */
void ddp_wire_pack(uint16_t *to, const float *from, size_t count, ddp_wire wire);
/* Unpack `count` floats that ddp_wire_pack has packed. Not for DDP_WIRE_FP32. Nothing overlaps. */
void ddp_wire_unpack(float *to, const uint16_t *from, size_t count, ddp_wire wire);

#endif
