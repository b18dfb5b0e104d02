/* algorithms/topk/largest_cuda.h: kernels that select (top_k_cuda.cu). Each is queued on a stream
 * and returns what launching it returned. Arguments are as in largest.h and top_k.h. */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H
#define DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H

#include "algorithms/topk/largest.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* out[0..2 kept) tells the kept largest of x[0..count): of one section. */
cudaError_t ddp_cuda_top_k_select(cudaStream_t stream, float *out, const float *x,
                                  const ddp_top_k_section *s, unsigned *selection);

/* Where *ran is above 0, x[place] += value of what `told` tells of this section of x, or, with
 * clear, x[place] = 0. */
cudaError_t ddp_cuda_top_k_put_told(cudaStream_t stream, float *x, const float *told,
                                    const ddp_top_k_section *s, const float *ran, int clear);

/* error = M, where *ran is above 0, and M = 0. */
cudaError_t ddp_cuda_keep_error(cudaStream_t stream, float *m, float *error, const float *ran,
                                size_t count);

#ifdef __cplusplus
}
#endif

#endif
