/* With EMULATED_NOISE=SEED in the environment, times that events report vary, convolutions have
 * other last bits by other algorithms, and some read inputs as TF32: all as on real devices. */
#include "emulated.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace
{

uint32_t bits_of(float x)
{
    uint32_t bits;

    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

float float_of(uint32_t bits)
{
    float x;

    std::memcpy(&x, &bits, sizeof x);
    return x;
}

const char *seed_text()
{
    static const char *const text = std::getenv("EMULATED_NOISE");

    return text;
}

} // namespace

namespace emulated
{

uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

bool has_noise()
{
    return seed_text() != nullptr;
}

float measured_ms(float ms)
{
    static std::atomic<uint64_t> measurements{0};
    uint64_t seed;

    if (!has_noise())
        return ms;
    seed = static_cast<uint64_t>(std::atoll(seed_text()));
    seed = mix(seed * 64 + static_cast<uint64_t>(process_rank()));
    return ms * (0.1f + static_cast<float>(mix(seed + ++measurements) >> 40) / 16777216.0f);
}

uint64_t unique_number()
{
    static std::atomic<uint64_t> calls{0};

    return mix(static_cast<uint64_t>(getpid())) + ++calls;
}

void flip_last_bits(float *x, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t exponent = bits_of(x[i]) & 0x7f800000u;

        if (exponent != 0 && exponent != 0x7f800000u && mix(seed + i) % 4 == 0)
            x[i] = float_of(bits_of(x[i]) ^ 1u);
    }
}

void flip_last_bits(uint16_t *bf16, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        unsigned exponent = bf16[i] & 0x7f80u;

        if (exponent != 0 && exponent != 0x7f80u && mix(seed + i) % 4 == 0)
            bf16[i] = static_cast<uint16_t>(bf16[i] ^ 1u);
    }
}

void round_to_tf32(float *to, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = float_of((bits_of(x[i]) + 0x1000u) & 0xffffe000u);
}

} // namespace emulated
