/* layers/onednn/lanes.h: vectors of sixteen floats, from and to bf16.
 *
 * Define LANES_BF16 before the inclusion to round by the instructions avx512_bf16. All functions of
 * such a file that use lanes need the attribute LANES. The instructions take numbers below 1.2e-38
 * for zero; else the bits are the same. */
#ifndef LAYERS_ONEDNN_LANES_H
#define LAYERS_ONEDNN_LANES_H

#include <string.h>

enum { LANES_COUNT = 16 };

typedef float lanes __attribute__((vector_size(LANES_COUNT * sizeof(float))));
typedef int lane_flags __attribute__((vector_size(LANES_COUNT * sizeof(int))));
typedef unsigned lane_bits __attribute__((vector_size(LANES_COUNT * sizeof(unsigned))));
typedef unsigned short half_lanes __attribute__((vector_size(LANES_COUNT * sizeof(short))));

#ifdef LANES_BF16
#include <immintrin.h>

#define LANES __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#else
#define LANES
#endif
#define LANES_INLINE LANES static inline __attribute__((always_inline))

/* Set *to to `count` floats, at most LANES_COUNT, and zeros. */
LANES_INLINE void lanes_load(const float *from, int count, lanes *to)
{
    if (count == LANES_COUNT) {
        memcpy(to, from, sizeof *to);
    } else {
        *to = (lanes){0};
        memcpy(to, from, (size_t)count * sizeof *from);
    }
}

LANES_INLINE void lanes_store(const lanes *from, int count, float *to)
{
    memcpy(to, from, count == LANES_COUNT ? sizeof *from : (size_t)count * sizeof *to);
}

/* Set *to to pairs of numbers; those of `first` are the lower halves. */
LANES_INLINE void lanes_interleave(const half_lanes *first, const half_lanes *second, lane_bits *to)
{
    *to = (lane_bits)__builtin_shufflevector(*first, *second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                             21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                             13, 29, 14, 30, 15, 31);
}

LANES_INLINE void lanes_of_halves(const half_lanes *from, lanes *to)
{
    const half_lanes zeros = {0};
    lane_bits bits;

    lanes_interleave(&zeros, from, &bits);
    *to = (lanes)bits;
}

/* Set *to to `count` bf16 numbers, at most LANES_COUNT, and zeros. */
LANES_INLINE void lanes_load_halves(const unsigned short *from, int count, lanes *to)
{
    half_lanes x = {0};

    memcpy(&x, from, count == LANES_COUNT ? sizeof x : (size_t)count * sizeof *from);
    lanes_of_halves(&x, to);
}

/* Set *to to the nearest bf16 numbers, ties to even. A number that is not finite stays so. */
LANES_INLINE void lanes_round(const lanes *from, half_lanes *to)
{
#ifdef LANES_BF16
    *to = (half_lanes)_mm512_cvtneps_pbh((__m512)*from);
#else
    const lane_bits bits = (lane_bits)*from, upper = bits >> 16;
    const lane_bits rounded = (bits + 0x7fff + (upper & 1)) >> 16;
    const lane_bits is_nan = (lane_bits)((bits & 0x7fffffff) > 0x7f800000);

    *to = __builtin_convertvector((is_nan & (upper | 0x40)) | (~is_nan & rounded), half_lanes);
#endif
}

LANES_INLINE void lanes_store_halves(const lanes *from, int count, unsigned short *to)
{
    half_lanes x;

    lanes_round(from, &x);
    memcpy(to, &x, count == LANES_COUNT ? sizeof x : (size_t)count * sizeof *to);
}

/* Multiply *by by 1 where x is above zero, and by `slope` elsewhere. */
LANES_INLINE void lanes_slope(const lanes *x, float slope, lanes *by)
{
    const lane_flags is_above = *x > 0;
    const lanes other = *by * slope;

    *by = (lanes)((is_above & (lane_flags)*by) | (~is_above & (lane_flags)other));
}

#endif
