/* algorithms/powersgd/matrix.h: computes with matrices for PowerSGD (powersgd.c), on the host.
 *
 *   M   rows x columns, row by row: the gradient of a layer's weights; E, its error, likewise
 *   P   `rank` columns, each of `rows` elements, contiguous: p[k * rows + i]
 *   Q   `rank` columns, each of `columns` elements, contiguous: q[k * columns + j]
 *
 * No two matrices of a call overlap. Sums are added in a fixed order: the same program computes the
 * same bits on every host. */
#ifndef DDP_ALGORITHMS_POWERSGD_MATRIX_H
#define DDP_ALGORITHMS_POWERSGD_MATRIX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddp_shape {
    size_t rows, columns;
    size_t rank; /* columns of P and of Q; 0: there are none */
} ddp_shape;

/* Add E to M, then set P to M Q, in one pass over M. */
void ddp_matrix_add_times(float *m, const float *e, const float *q, float *p, ddp_shape s);

/* Set Q to M^T P. */
void ddp_matrix_transposed_times(const float *m, const float *p, float *q, ddp_shape s);

/* Set E to the error of the approximation, M - share * P Q^T, and after that M to P Q^T. share: 1
 * divided by the number of ranks. */
void ddp_matrix_approximate(float *m, float *e, const float *p, const float *q, float share,
                            ddp_shape s);

/* Make `count` columns of `length` elements orthonormal (modified Gram-Schmidt, with products in
 * double). A column that depends on earlier columns becomes zero. One with NaN stays NaN;
 * one with an infinity may become zero. */
void ddp_matrix_orthogonalize(float *columns, size_t length, size_t count);

/* Make Q's columns orthonormal, by ddp_matrix_orthogonalize. A column that becomes zero is replaced
 * by that of `drawn`, of Q's size, and all are made orthonormal again. */
void ddp_matrix_renew_q(float *q, const float *drawn, ddp_shape s);

/* A column depends on earlier columns if at most this fraction of its norm is left when its
 * projections on them are subtracted: so much may be rounding. */
#define DDP_MATRIX_LEAST_LEFT 1e-5

#ifdef __cplusplus
}
#endif

#endif
