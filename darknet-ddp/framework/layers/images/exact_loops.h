/* layers/images/exact_loops.h: for files whose loops over pixels give the same bits on every CPU
 * (layers/images/pixels.h). Include it after all other headers: it changes how the code below it is
 * compiled. */
#ifndef EXACT_LOOPS_H
#define EXACT_LOOPS_H
#include "blas.h" /* VECTORIZE */
#include "darknet.h"

/* -Ofast, which the rest is compiled with, may reorder sums and take a CPU's own estimates of
 * reciprocals for divisions. */
#pragma GCC optimize("no-unsafe-math-optimizations", "no-finite-math-only", "fp-contract=off",     \
                     "no-trapping-math")

/* Return channel c of a picture: im.h rows of im.w floats. */
static inline float *plane_of(image im, int c)
{
    return im.data + (size_t)c * (size_t)im.w * (size_t)im.h;
}

#endif
