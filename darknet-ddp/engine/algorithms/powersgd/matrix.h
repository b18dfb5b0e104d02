/* algorithms/powersgd/matrix.h: the few products of matrices that low-rank compression is made of
 * (powersgd.c).
 *
 *   M   rows x columns, row by row: a layer's weights
 *   P   rank columns of `rows` elements, each column contiguous: p[k * rows + i]
 *   Q   rank columns of `columns` elements, in the same way:     q[k * columns + j]
 *
 * Host memory; nothing overlaps. Each result has one order of summation, whatever the compiler
 * makes of the loops: the same bits wherever the same program computes.
 */
#ifndef DDP_ALGORITHMS_POWERSGD_MATRIX_H
#define DDP_ALGORITHMS_POWERSGD_MATRIX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddp_shape {
    size_t rows, columns;
    size_t rank; /* 0: there are no P and Q */
} ddp_shape;

/* M = M + E, then P = M Q: one pass over both. */
void ddp_matrix_add_times(float *m, const float *e, const float *q, float *p, ddp_shape s);

/* Q = M^T P. */
void ddp_matrix_transposed_times(const float *m, const float *p, float *q, ddp_shape s);

/* Set E = M - share * P Q^T, the error of the approximation, and then M = P Q^T. */
void ddp_matrix_approximate(float *m, float *e, const float *p, const float *q, float share,
                            ddp_shape s);

/* Columns of `length` become orthonormal (Gram-Schmidt, modified, products in double). One that
 * depends on those before it becomes zero. What is not finite stays so. */
void ddp_matrix_orthogonalize(float *columns, size_t length, size_t count);

/* Make Q's columns orthonormal, by ddp_matrix_orthogonalize. No step would change a column that is
 * zero then: it becomes that of `drawn`, of Q's size, and all are made orthonormal again. */
void ddp_matrix_renew_q(float *q, const float *drawn, ddp_shape s);

/* The least fraction of a column's length that must be left when others are taken off it. A column
 * that is not longer than that is rounding, and becomes zero. */
#define DDP_MATRIX_LEAST_LEFT 1e-5

#ifdef __cplusplus
}
#endif

#endif
