/* device/cuda_compress_kernels.h: what a GPU computes for compression. Each queues kernels on a
 * stream and returns what launching them returned. Arguments are as in compress.h, matrix.h and
 * top_k.h. */
#ifndef DDP_DEVICE_CUDA_COMPRESS_KERNELS_H
#define DDP_DEVICE_CUDA_COMPRESS_KERNELS_H

#include "device/compress.h"
#include "device/top_k.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cuda_matrix.cu ---- */

/* M = M + E, P = M Q. */
cudaError_t ddp_cuda_add_times(cudaStream_t stream, const ddp_low_rank *x);

/* Columns of P become orthonormal. */
cudaError_t ddp_cuda_orthogonalize(cudaStream_t stream, const ddp_low_rank *x);

/* q_sum = M^T P. */
cudaError_t ddp_cuda_transposed_times(cudaStream_t stream, const ddp_low_rank *x);

cudaError_t ddp_cuda_approximate(cudaStream_t stream, const ddp_low_rank *x, const float *ran,
                                 float share);
cudaError_t ddp_cuda_renew(cudaStream_t stream, const ddp_low_rank *x, const float *ran);

/* ---- cuda_top_k.cu ---- */

/* Words of the GPU's memory that a selection works in. */
enum {
    DDP_CUDA_BINS = 1 << 11,
    DDP_CUDA_TILE = 1 << 12, /* elements that a block writes */
    DDP_CUDA_SELECTION = DDP_CUDA_BINS + 2 + 2 * DDP_TOP_K_SECTION / DDP_CUDA_TILE
};

/* out[0..2 kept) tells the kept largest of x[0..count): of one section. */
cudaError_t ddp_cuda_top_k_take(cudaStream_t stream, float *out, const float *x,
                                const ddp_top_k_section *s, unsigned *selection);

/* Where *ran is above 0, x[place] += value of what `told` tells of this section of x, or, with
 * clear, x[place] = 0. */
cudaError_t ddp_cuda_top_k_put(cudaStream_t stream, float *x, const float *told,
                               const ddp_top_k_section *s, const float *ran, int clear);

/* error = M, where *ran is above 0, and M = 0. */
cudaError_t ddp_cuda_keep(cudaStream_t stream, float *m, float *error, const float *ran,
                          size_t count);

#ifdef __cplusplus
}
#endif

#endif
