/* algorithms/powersgd/low_rank_cuda.h: starts the kernels of matrix_cuda.cu, which PowerSGD
 * needs. Each function queues its work on a stream and returns CUDA's status. low_rank.h explains
 * the struct, ddp_low_rank. */
#ifndef DDP_ALGORITHMS_POWERSGD_LOW_RANK_CUDA_H
#define DDP_ALGORITHMS_POWERSGD_LOW_RANK_CUDA_H

#include "algorithms/powersgd/low_rank.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set x->m to M = gradient + x->error, and x->p to M Q. */
cudaError_t ddp_cuda_add_times(cudaStream_t stream, const ddp_low_rank *x);

/* Make the columns of x->p orthonormal. A column that depends on earlier ones becomes zero. */
cudaError_t ddp_cuda_orthogonalize(cudaStream_t stream, const ddp_low_rank *x);

/* Set x->q_sum to M^T P. */
cudaError_t ddp_cuda_transposed_times(cudaStream_t stream, const ddp_low_rank *x);

/* Set x->error to M - share * P q_sum^T, then x->m to P q_sum^T. If the layer ran
 * on no rank (*ran, in the GPU's memory, is 0), only set x->m to zero. */
cudaError_t ddp_cuda_approximate(cudaStream_t stream, const ddp_low_rank *x, const float *ran,
                                 float share);

/* Set x->q to the columns of x->q_sum, made orthonormal. A column that depends on earlier columns
 * is first replaced by that of x->drawn. Does nothing if *ran is 0. *ran, in the GPU's memory: on
 * how many ranks the layer ran. */
cudaError_t ddp_cuda_renew_q(cudaStream_t stream, const ddp_low_rank *x, const float *ran);

#ifdef __cplusplus
}
#endif

#endif
