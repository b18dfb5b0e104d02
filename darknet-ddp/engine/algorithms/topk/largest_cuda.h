/* algorithms/topk/largest_cuda.h: kernels that select (top_k_cuda.cu). Each is queued on a stream
 * and returns what launching it returned. Arguments are as in largest.h and top_k.h. */
#ifndef DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H
#define DDP_ALGORITHMS_TOPK_LARGEST_CUDA_H

#include "algorithms/topk/largest.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Find the `kept` (s->kept) elements of section s that are largest in magnitude. Write their values
 * to out[0..kept). Write their indices in the section, from 0, as floats to out[kept..2 kept). The
 * section is x[0..s->count). Parameter `selection`: scratch memory of DDP_LARGEST_SCRATCH words. */
cudaError_t ddp_cuda_top_k_select(cudaStream_t stream, float *out, const float *x,
                                  const ddp_top_k_section *s, unsigned *selection);

/* Add each value that `told` has for section s to x at its place. With clear 1, set x to 0 there
 * instead. Both x and told are those of the whole array. Does nothing where *ran is 0 or less. */
cudaError_t ddp_cuda_top_k_put_told(cudaStream_t stream, float *x, const float *told,
                                    const ddp_top_k_section *s, const float *ran, int clear);

/* If *ran is above 0 or NaN, copy m to error. Then set m to 0 in any case. */
cudaError_t ddp_cuda_keep_error(cudaStream_t stream, float *m, float *error, const float *ran,
                                size_t count);

#ifdef __cplusplus
}
#endif

#endif
