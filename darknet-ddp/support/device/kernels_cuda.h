/* device/kernels_cuda.h: kernels that sums need. Each function queues one kernel on a stream, and
 * returns the error of its launch. Arguments are as in device.h. */
#ifndef DDP_DEVICE_KERNELS_CUDA_H
#define DDP_DEVICE_KERNELS_CUDA_H

#include "device/float16.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values that travel as a kernel's argument, at most. They are read when the kernel is queued. */
enum { DDP_CUDA_VALUES = 64 };

/* Set x[0..count) to host[0..count); count is at most DDP_CUDA_VALUES. */
cudaError_t ddp_cuda_set(cudaStream_t stream, float *x, const float *host, size_t count);

cudaError_t ddp_cuda_add(cudaStream_t stream, float *sum, const float *more, size_t count);
cudaError_t ddp_cuda_scale(cudaStream_t stream, float *x, double factor, size_t count);
cudaError_t ddp_cuda_compose(cudaStream_t stream, float *x, double keep, const float *more,
                             size_t count);

/* Nodes that one kernel adds up, at most: its additions travel as an argument. */
enum { DDP_CUDA_NODES = 2048 };

/* A sum of nodes of the tree in device/sum.h to larger nodes, for one launch. */
struct ddp_cuda_sums {
    const float *nodes; /* node p at nodes + p * stride */
    size_t stride;
    int count;                      /* number of nodes, at most DDP_CUDA_NODES */
    const unsigned char *additions; /* by ddp_sum_stack, for each node; host memory */
    float *sums;                    /* larger node k at sums + k * sums_stride; overlaps no node */
    size_t sums_stride;
};

/* Make the sums *s; each node has `count` elements. */
cudaError_t ddp_cuda_sum_nodes(cudaStream_t stream, const struct ddp_cuda_sums *s, size_t count);

/* Pack and unpack floats, as ddp_wire_pack and ddp_wire_unpack of device/wire.h do. */
cudaError_t ddp_cuda_pack(cudaStream_t stream, uint16_t *to, const float *from, size_t count,
                          ddp_wire wire);
cudaError_t ddp_cuda_unpack(cudaStream_t stream, float *to, const uint16_t *from, size_t count,
                            ddp_wire wire);

/* Set *flag, in pinned host memory, to number if an element of x[0..count) is not finite; else
 * leave it. */
cudaError_t ddp_cuda_check_finite(cudaStream_t stream, const float *x, size_t count, unsigned *flag,
                                  unsigned number);

/* Write DDP_CUDA_CHECKSUMS numbers to sums, in pinned host memory. Added up modulo 2^64, they are a
 * checksum of x[0..count). */
enum { DDP_CUDA_CHECKSUMS = 512 };
cudaError_t ddp_cuda_checksum(cudaStream_t stream, const float *x, size_t count, uint64_t *sums);

#ifdef __cplusplus
}
#endif

#endif
