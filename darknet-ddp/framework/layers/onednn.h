/* layers/onednn.h: oneDNN's version, instruction set and matrix product (convolutions:
 * onednn/convolution.h). A build without oneDNN has only the first two functions. */
#ifndef LAYERS_ONEDNN_H
#define LAYERS_ONEDNN_H

#include <stddef.h>

/* Write oneDNN's name and version, such as "oneDNN 3.7.2", to out[0..size); "" in a build without
 * it. */
void onednn_describe(char *out, size_t size);

/* Return oneDNN's number of the instruction set that it uses on this CPU (dnnl_cpu_isa_t); 0 in a
 * build without oneDNN. */
int onednn_instructions(void);

#ifdef DNNL
/* Compute C = alpha * op(A) * op(B) + beta * C for float matrices, as Darknet's gemm does. op(A) is
 * m x k, op(B) is k x n, C is m x n. Matrices are stored row by row. A failure ends the program.
 *   transpose_a     1: op(A) is A transposed; 0: A. transpose_b: the same for B
 *   lda, ldb, ldc   lengths of the stored rows, in floats
 *   any_threads     1: results have the same bits for any number of threads; slower by 2 to 15 % */
void onednn_gemm(int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc, int any_threads);
#endif

#endif
