/* layers/winograd/row_formulas.h: Winograd's transforms along rows, of ROW_LANES channels or
 * filters.
 *
 * A tile is 4 pixels of a row of the output. It is computed from 6 pixels of each of 3 rows of the
 * input. Each row's 6 pixels, and the 3 weights of a row of a window, become 6 values. The products
 * of these, summed over rows and channels, become the 4 pixels.
 *
 * For the gradients of weights, the gradients of the 4 pixels become 6 values, too. Their products
 * with the values of the input, summed over tiles, become the gradients of the 3 weights.
 *
 * Polynomials are evaluated at 0, A, -A, B, -B and infinity. With these points the rounding of the
 * values to bf16 costs least: at 1 and 2, in place of A and B, outputs differ by half as much
 * again. */
#ifndef LAYERS_WINOGRAD_ROW_FORMULAS_H
#define LAYERS_WINOGRAD_ROW_FORMULAS_H

#include <string.h>

enum {
    ROW_TILE = 4,   /* pixels of a tile */
    ROW_VALUES = 6, /* values that a row of the input, a row of a window, and a tile have */
    ROW_LANES = 16
};

#define ROW_A 0.75F
#define ROW_B 1.5F
#define ROW_AA (ROW_A * ROW_A)
#define ROW_BB (ROW_B * ROW_B)
#define ROW_OF_A (1 / (2 * ROW_AA * (ROW_AA - ROW_BB)))
#define ROW_OF_B (1 / (2 * ROW_BB * (ROW_BB - ROW_AA)))

typedef float row_floats __attribute__((vector_size(ROW_LANES * sizeof(float))));
typedef unsigned row_words __attribute__((vector_size(ROW_LANES * sizeof(unsigned))));
typedef unsigned short row_halves __attribute__((vector_size(ROW_LANES * sizeof(unsigned short))));

#define ROW_INLINE static inline __attribute__((always_inline))

/* Set *to to bf16 numbers. */
ROW_INLINE void row_load(const unsigned short *from, row_floats *to)
{
    row_halves x;

    memcpy(&x, from, sizeof x);
    *to = (row_floats)(__builtin_convertvector(x, row_words) << 16);
}

/* Set *to to the nearest bf16 numbers, ties to even. Infinity and the NaN of arithmetic stay. */
ROW_INLINE void row_round(const row_floats *from, row_words *to)
{
    const row_words bits = (row_words)*from;

    *to = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Set v to the values of 6 pixels. */
ROW_INLINE void row_transform_input(const row_floats *x, row_floats *v)
{
    const row_floats even_a = x[4] - ROW_BB * x[2], odd_a = ROW_A * (x[3] - ROW_BB * x[1]);
    const row_floats even_b = x[4] - ROW_AA * x[2], odd_b = ROW_B * (x[3] - ROW_AA * x[1]);

    v[0] = x[0] - (1 / ROW_AA + 1 / ROW_BB) * x[2] + 1 / (ROW_AA * ROW_BB) * x[4];
    v[1] = even_a + odd_a;
    v[2] = even_a - odd_a;
    v[3] = even_b + odd_b;
    v[4] = even_b - odd_b;
    v[5] = x[5] - (ROW_AA + ROW_BB) * x[3] + ROW_AA * ROW_BB * x[1];
}

/* Set v to the values of 3 weights. */
ROW_INLINE void row_transform_weights(const row_floats *w, row_floats *v)
{
    const row_floats even_a = ROW_OF_A * w[0] + ROW_OF_A * ROW_AA * w[2];
    const row_floats odd_a = ROW_OF_A * ROW_A * w[1];
    const row_floats even_b = ROW_OF_B * w[0] + ROW_OF_B * ROW_BB * w[2];
    const row_floats odd_b = ROW_OF_B * ROW_B * w[1];

    v[0] = w[0];
    v[1] = even_a + odd_a;
    v[2] = even_a - odd_a;
    v[3] = even_b + odd_b;
    v[4] = even_b - odd_b;
    v[5] = w[2];
}

/* Set y to the pixels of 6 sums. */
ROW_INLINE void row_transform_sums(const row_floats *m, row_floats *y)
{
    const row_floats even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const row_floats even_b = m[3] + m[4], odd_b = m[3] - m[4];

    y[0] = m[0] + even_a + even_b;
    y[1] = ROW_A * odd_a + ROW_B * odd_b;
    y[2] = ROW_AA * even_a + ROW_BB * even_b;
    y[3] = ROW_AA * ROW_A * odd_a + ROW_BB * ROW_B * odd_b + m[5];
}

/* Set v to the values of the gradients of 4 pixels: the transpose of row_transform_sums. */
ROW_INLINE void row_transform_delta(const row_floats *dy, row_floats *v)
{
    const row_floats even_a = dy[0] + ROW_AA * dy[2], odd_a = ROW_A * (dy[1] + ROW_AA * dy[3]);
    const row_floats even_b = dy[0] + ROW_BB * dy[2], odd_b = ROW_B * (dy[1] + ROW_BB * dy[3]);

    v[0] = dy[0];
    v[1] = even_a + odd_a;
    v[2] = even_a - odd_a;
    v[3] = even_b + odd_b;
    v[4] = even_b - odd_b;
    v[5] = dy[3];
}

/* Set w to the gradients of 3 weights, from 6 sums: the transpose of row_transform_weights. */
ROW_INLINE void row_transform_gradients(const row_floats *m, row_floats *w)
{
    const row_floats even_a = ROW_OF_A * (m[1] + m[2]), odd_a = ROW_OF_A * (m[1] - m[2]);
    const row_floats even_b = ROW_OF_B * (m[3] + m[4]), odd_b = ROW_OF_B * (m[3] - m[4]);

    w[0] = m[0] + even_a + even_b;
    w[1] = ROW_A * odd_a + ROW_B * odd_b;
    w[2] = ROW_AA * even_a + ROW_BB * even_b + m[5];
}

#endif
