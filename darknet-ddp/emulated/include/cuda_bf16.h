/* emulated/include/cuda_bf16.h: the type bf16 of kernels, and its conversions. */
#ifndef EMULATED_CUDA_BF16_H
#define EMULATED_CUDA_BF16_H

#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
    uint16_t bits;
};

/* Round x to the nearest bf16, ties to even. NaN becomes 0x7fff. */
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    uint32_t bits;

    std::memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return {0x7fff};
    return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

static inline float __bfloat162float(__nv_bfloat16 half)
{
    uint32_t bits = static_cast<uint32_t>(half.bits) << 16;
    float x;

    std::memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
