/* device/wire.h: floats as they travel (device/float16.h), arrays of them. */
#ifndef DDP_DEVICE_WIRE_H
#define DDP_DEVICE_WIRE_H

#include "device/float16.h"

#include <stddef.h>

/* Bytes of a float on the wire. */
static inline size_t ddp_wire_bytes(ddp_wire wire)
{
    return wire == DDP_WIRE_FP32 ? sizeof(float) : sizeof(uint16_t);
}

/* "fp32", "bf16". */
const char *ddp_wire_name(ddp_wire wire);

/* The largest finite number; 0: as float32 has it, or nearly. */
float ddp_wire_most(ddp_wire wire);

/* Each of x[0..count) becomes what would come out of the wire. */
void ddp_wire_round(float *x, size_t count, ddp_wire wire);

/* Round and pack, and unpack again; not of DDP_WIRE_FP32. Nothing overlaps. */
void ddp_wire_pack(uint16_t *to, const float *from, size_t count, ddp_wire wire);
void ddp_wire_unpack(float *to, const uint16_t *from, size_t count, ddp_wire wire);

#endif
