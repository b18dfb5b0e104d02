/* layers/onednn/half.h: bf16 numbers on a CPU, kept as unsigned short: the upper half of a float.
 */
#ifndef LAYERS_ONEDNN_HALF_H
#define LAYERS_ONEDNN_HALF_H

#include <stddef.h>
#include <string.h>

static inline float half_to_float(unsigned short half)
{
    const unsigned bits = (unsigned)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Round to the nearest bf16, ties to even. A number that is not finite stays so. */
static inline unsigned short half_of_float(float x)
{
    unsigned bits;

    memcpy(&bits, &x, sizeof bits);
    return (unsigned short)((bits & 0x7fffffff) > 0x7f800000
                                ? bits >> 16 | 0x40
                                : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Convert n values to floats, or round them to the nearest bf16. The arrays must not overlap. */
void floats_of_halves(size_t n, const unsigned short *from, float *to);
void halves_of_floats(size_t n, const float *from, unsigned short *to);
/* Add from[0..n) to `to`, and round the sums. The arrays must not overlap. */
void add_halves(size_t n, const unsigned short *from, unsigned short *to);

#endif
