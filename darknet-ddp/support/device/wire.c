#include "device/wire.h"

#include "base/simd.h"

const char *ddp_wire_name(ddp_wire wire)
{
    static const char *const names[] = {
        "fp32",
#define HALF(NAME, name, ...) #name,
#define EIGHT(NAME, name, ...) #name,
#include "device/half_types.def"
    };

    return names[wire];
}

float ddp_wire_most(ddp_wire wire)
{
    static const float most[] = {
        0,
#define HALF(NAME, name, most, ...) most,
#define EIGHT(NAME, name, most, ...) most,
#include "device/half_types.def"
    };

    return most[wire];
}

/* Inlined for each format, so that the loops become vectors. */
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
#define HALF(NAME, ...)                                                                            \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        round_as(x, count, DDP_WIRE_##NAME);
#define EIGHT(NAME, ...)                                                                           \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        ddp_float8_round(x, count);
#include "device/half_types.def"
}

DDP_TARGET_CLONES
void ddp_wire_pack(void *to, const float *from, size_t count, ddp_wire wire)
{
#define HALF(NAME, ...)                                                                            \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        pack_as(to, from, count, DDP_WIRE_##NAME);
#define EIGHT(NAME, ...)                                                                           \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        ddp_float8_pack(to, from, count);
#include "device/half_types.def"
}

DDP_TARGET_CLONES
void ddp_wire_unpack(float *to, const void *from, size_t count, ddp_wire wire)
{
#define HALF(NAME, ...)                                                                            \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        unpack_as(to, from, count, DDP_WIRE_##NAME);
#define EIGHT(NAME, ...)                                                                           \
    if (wire == DDP_WIRE_##NAME)                                                                   \
        ddp_float8_unpack(to, from, count);
#include "device/half_types.def"
}
