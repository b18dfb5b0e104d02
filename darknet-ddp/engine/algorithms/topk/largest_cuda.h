/* algorithms/topk/largest_cuda.h: starts the kernels of top_k_cuda.cu. Each function queues its
 * work on a stream and returns CUDA's status. A section is a part of a long array (top_k.h). */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H
#define DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H

#include "algorithms/topk/largest.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Write the s->kept elements of section s, x[0..s->count), that are largest in magnitude, to out.
 * First come their values, in the order of x, then their indices in the section. There are
 * DDP_LARGEST_SCRATCH words at scratch. */
cudaError_t ddp_cuda_top_k_select(cudaStream_t stream, float *out, const float *x,
                                  const ddp_top_k_section *s, unsigned *scratch);

/* Add each value of section s in `selected` to x at its index; with clear 1, set x to 0 there. x
 * and selected are those of the whole array. *ran, in the GPU's memory: on how many ranks the layer
 * ran; if it is 0, does nothing. A number that is no index is skipped. */
cudaError_t ddp_cuda_top_k_put(cudaStream_t stream, float *x, const float *selected,
                               const ddp_top_k_section *s, const float *ran, int clear);

/* If *ran is not 0, copy m to error. Then, in any case, set m to 0. *ran, in the GPU's memory: on
 * how many ranks the layer ran. */
cudaError_t ddp_cuda_keep_error(cudaStream_t stream, float *m, float *error, const float *ran,
                                size_t count);

#ifdef __cplusplus
}
#endif

#endif
