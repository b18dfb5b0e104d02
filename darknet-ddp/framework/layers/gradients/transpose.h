/* layers/gradients/transpose.h: pairs of bf16 numbers in vectors. For copies.c and row_copies.c. */
#ifndef LAYERS_GRADIENTS_TRANSPOSE_H
#define LAYERS_GRADIENTS_TRANSPOSE_H

#include "layers/gradients/cut.h"

typedef unsigned pairs __attribute__((vector_size(SIDE * sizeof(unsigned))));

/* Interleave the rows of a tile: row i and row i + 8 become rows 2 i and 2 i + 1. */
static inline __attribute__((always_inline)) void interleave_rows(const pairs *from, pairs *to)
{
    for (int i = 0; i < SIDE / 2; ++i) {
        const pairs a = from[i], b = from[i + SIDE / 2];

        to[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        to[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                14, 30, 15, 31);
    }
}

/* Transpose a tile. Each interleaving turns the bits of a number's row and column by one place. */
static inline __attribute__((always_inline)) void transpose(pairs *tile, pairs *to)
{
    pairs other[SIDE];

    interleave_rows(tile, other);
    interleave_rows(other, tile);
    interleave_rows(tile, other);
    interleave_rows(other, to);
}

#endif
