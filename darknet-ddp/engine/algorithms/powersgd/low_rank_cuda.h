/* algorithms/powersgd/low_rank_cuda.h: kernels of low-rank products (matrix_cuda.cu). Each is
 * queued on a stream and returns what launching it returned. Arguments are as in low_rank.h and
 * matrix.h. */
#ifndef DDP_ALGORITHMS_POWERSGD_LOW_RANK_CUDA_H
#define DDP_ALGORITHMS_POWERSGD_LOW_RANK_CUDA_H

#include "algorithms/powersgd/low_rank.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* M = M + E, P = M Q. */
cudaError_t ddp_cuda_add_times(cudaStream_t stream, const ddp_low_rank *x);

/* Columns of P become orthonormal. */
cudaError_t ddp_cuda_orthogonalize(cudaStream_t stream, const ddp_low_rank *x);

/* q_sum = M^T P. */
cudaError_t ddp_cuda_transposed_times(cudaStream_t stream, const ddp_low_rank *x);

cudaError_t ddp_cuda_approximate(cudaStream_t stream, const ddp_low_rank *x, const float *ran,
                                 float share);
cudaError_t ddp_cuda_renew_q(cudaStream_t stream, const ddp_low_rank *x, const float *ran);

#ifdef __cplusplus
}
#endif

#endif
