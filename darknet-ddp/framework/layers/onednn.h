/* layers/onednn.h: oneDNN's version, instruction set and matrix product; its convolutions are in
 * onednn/convolution.h. Without DNNL (oneDNN was not found) only two functions exist. */
#ifndef LAYERS_ONEDNN_H
#define LAYERS_ONEDNN_H

#include <stddef.h>

/* Write oneDNN's name and version to out[0..size), such as "oneDNN 3.7.2"; "" in a build without
 * it. */
void onednn_describe(char *out, size_t size);

/* Return oneDNN's number of the instruction set that it uses on this CPU (dnnl_cpu_isa_t); 0 in a
 * build without oneDNN. */
int onednn_instructions(void);

#ifdef DNNL
/* Compute C = alpha * op(A) * op(B) + beta * C, of float matrices stored by rows, as Darknet's gemm
 * does. Here op(A) is M x K, op(B) is K x N, and C is M x N. The numbers lda, ldb and ldc are the
 * lengths, in floats, of the rows of A, B and C as they are stored, before a transpose. With
 * `any_threads` the result has the same bits for any number of threads. That takes about 2 % longer
 * on one thread, and 5 to 15 % on two. A failure ends the program. */
void onednn_gemm(int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc, int any_threads);
#endif

#endif
