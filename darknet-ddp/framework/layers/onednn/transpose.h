/* layers/onednn/transpose.h: transposes 16 x 16 numbers of 32 bits in vectors. */
#ifndef LAYERS_ONEDNN_TRANSPOSE_H
#define LAYERS_ONEDNN_TRANSPOSE_H

enum { TRANSPOSED = 16 /* rows and columns */ };

typedef unsigned transposed __attribute__((vector_size(TRANSPOSED * sizeof(unsigned))));

/* Interleave rows: row i and row i + 8 become rows 2 i and 2 i + 1. */
static inline __attribute__((always_inline)) void interleave_rows(const transposed *from,
                                                                  transposed *to)
{
    for (int i = 0; i < TRANSPOSED / 2; ++i) {
        const transposed a = from[i], b = from[i + TRANSPOSED / 2];

        to[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        to[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                14, 30, 15, 31);
    }
}

/* Transpose rows to `to`, and overwrite rows. Each interleaving turns the bits of a number's row
 * and column by one place. */
static inline __attribute__((always_inline)) void transpose(transposed *rows, transposed *to)
{
    transposed other[TRANSPOSED];

    interleave_rows(rows, other);
    interleave_rows(other, rows);
    interleave_rows(rows, other);
    interleave_rows(other, to);
}

#endif
