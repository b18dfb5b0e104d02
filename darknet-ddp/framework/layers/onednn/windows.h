/* layers/onednn/windows.h: weights of 3x3 windows in vectors, as packing wants them. */
#ifndef LAYERS_ONEDNN_WINDOWS_H
#define LAYERS_ONEDNN_WINDOWS_H

#include "layers/onednn/transpose.h"

#include <stddef.h>
#include <string.h>

enum { WINDOW_WEIGHTS = 9 };

typedef float window_floats __attribute__((vector_size(TRANSPOSED * sizeof(float))));

/* Set weights[k] to weight k of 16 windows, which lie `step` floats apart. end: where the array of
 * all windows ends */
static inline __attribute__((always_inline)) void
load_windows(const float *windows, size_t step, const float *end, window_floats *weights)
{
    transposed rows[TRANSPOSED], columns[TRANSPOSED];
    float last[TRANSPOSED] = {0};

    for (int i = 0; i < TRANSPOSED; ++i) {
        const float *from = windows + (size_t)i * step;

        if (end - from < TRANSPOSED)
            from = memcpy(last, from, WINDOW_WEIGHTS * sizeof *from);
        memcpy(&rows[i], from, sizeof rows[i]);
    }
    transpose(rows, columns);
    for (int k = 0; k < WINDOW_WEIGHTS; ++k)
        weights[k] = (window_floats)columns[k];
}

/* Set *to to pairs of the nearest bf16 numbers, ties to even. Infinity and the NaN of arithmetic
 * stay. */
static inline __attribute__((always_inline)) void
round_to_pairs(const window_floats *first, const window_floats *second, transposed *to)
{
    const transposed a = (transposed)*first, b = (transposed)*second;

    *to = (a + 0x7fff + (a >> 16 & 1)) >> 16 | (b + 0x7fff + (b >> 16 & 1)) >> 16 << 16;
}

#endif
