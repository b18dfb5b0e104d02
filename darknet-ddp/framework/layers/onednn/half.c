#include "layers/onednn/half.h"

#include "blas.h"

VECTORIZE
void floats_of_halves(size_t n, const unsigned short *restrict from, float *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = half_to_float(from[i]);
}

VECTORIZE
void halves_of_floats(size_t n, const float *restrict from, unsigned short *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = half_of_float(from[i]);
}

VECTORIZE
void add_halves(size_t n, const unsigned short *restrict from, unsigned short *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = half_of_float(half_to_float(to[i]) + half_to_float(from[i]));
}
