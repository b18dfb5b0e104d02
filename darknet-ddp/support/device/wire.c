#include "device/wire.h"

#include "base/simd.h"

const char *ddp_wire_name(ddp_wire wire)
{
    static const char *const names[] = {"fp32", "bf16", "fp16"};

    return names[wire];
}

/* For one format each, so that they become vectors. */
DDP_ALWAYS_INLINE void round_as(float *x, size_t count, ddp_wire wire)
{
    for (size_t i = 0; i < count; i++)
        x[i] = ddp_wire_rounded(x[i], wire);
}

DDP_ALWAYS_INLINE void pack_as(uint16_t *restrict to, const float *restrict from, size_t count,
                               ddp_wire wire)
{
    for (size_t i = 0; i < count; i++)
        to[i] = ddp_to_half(from[i], wire);
}

DDP_ALWAYS_INLINE void unpack_as(float *restrict to, const uint16_t *restrict from, size_t count,
                                 ddp_wire wire)
{
    for (size_t i = 0; i < count; i++)
        to[i] = ddp_from_half(from[i], wire);
}

DDP_TARGET_CLONES
void ddp_wire_round(float *x, size_t count, ddp_wire wire)
{
    if (wire == DDP_WIRE_BF16)
        round_as(x, count, DDP_WIRE_BF16);
    else if (wire == DDP_WIRE_FP16)
        round_as(x, count, DDP_WIRE_FP16);
}

DDP_TARGET_CLONES
void ddp_wire_pack(uint16_t *to, const float *from, size_t count, ddp_wire wire)
{
    if (wire == DDP_WIRE_BF16)
        pack_as(to, from, count, DDP_WIRE_BF16);
    else
        pack_as(to, from, count, DDP_WIRE_FP16);
}

DDP_TARGET_CLONES
void ddp_wire_unpack(float *to, const uint16_t *from, size_t count, ddp_wire wire)
{
    if (wire == DDP_WIRE_BF16)
        unpack_as(to, from, count, DDP_WIRE_BF16);
    else
        unpack_as(to, from, count, DDP_WIRE_FP16);
}
