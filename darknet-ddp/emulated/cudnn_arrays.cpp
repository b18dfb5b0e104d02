#include "cudnn_arrays.h"

#include "emulated.h"

#include <cstring>

namespace
{

using emulated::extent;

/* Round to nearest, ties to even. */
uint16_t to_bf16(float x)
{
    uint32_t bits;

    std::memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float from_bf16(uint16_t half)
{
    uint32_t bits = static_cast<uint32_t>(half) << 16;
    float x;

    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/* Call visit(where a value is with channels last, where it is with channels first). */
template <class Visit> void for_values(const extent &size, Visit visit)
{
    size_t first = 0;

    for (size_t o = 0; o < size.outer; o++)
        for (size_t c = 0; c < size.channels; c++)
            for (size_t i = 0; i < size.inner; i++, first++)
                visit((o * size.inner + i) * size.channels + c, first);
}

void unpack(float *to, const void *from, const extent &size)
{
    const uint16_t *halves = static_cast<const uint16_t *>(from);

    for_values(size, [=](size_t last, size_t first) { to[first] = from_bf16(halves[last]); });
}

} // namespace

namespace emulated
{

extent inputs_of(const shape &s)
{
    return {static_cast<size_t>(s.n), static_cast<size_t>(s.groups) * static_cast<size_t>(s.c),
            static_cast<size_t>(s.h) * static_cast<size_t>(s.w), s.bf16};
}

extent outputs_of(const shape &s)
{
    return {static_cast<size_t>(s.n), static_cast<size_t>(s.groups) * static_cast<size_t>(s.k),
            s.pixels(), s.bf16};
}

extent weights_of(const shape &s)
{
    return {static_cast<size_t>(s.groups) * static_cast<size_t>(s.k), static_cast<size_t>(s.c),
            static_cast<size_t>(s.kernel_h) * static_cast<size_t>(s.kernel_w), s.bf16};
}

operand::operand(const void *x, const extent &size, bool as_tf32)
    : all(static_cast<const float *>(x))
{
    if (!size.bf16 && !as_tf32)
        return;
    copy.resize(size.count());
    if (size.bf16)
        unpack(copy.data(), x, size);
    else
        round_to_tf32(copy.data(), all, size.count());
    all = copy.data();
}

result::result(void *x, const extent &its_size, float keep)
    : to(x), size(its_size), all(static_cast<float *>(x))
{
    if (!size.bf16)
        return;
    copy.resize(size.count());
    if (keep != 0)
        unpack(copy.data(), x, size);
    all = copy.data();
}

void result::write_back(noise rounding)
{
    uint16_t *halves = static_cast<uint16_t *>(to);

    if (size.bf16)
        for_values(size, [this, halves](size_t last, size_t first) {
            halves[last] = to_bf16(all[first]);
        });
    if (!rounding.on)
        return;
    if (size.bf16)
        flip_last_bits(halves, size.count(), rounding.seed);
    else
        flip_last_bits(all, size.count(), rounding.seed);
}

} // namespace emulated
