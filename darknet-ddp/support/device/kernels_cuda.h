/* device/kernels_cuda.h: the GPU kernels of device.h and of allreduces. Each function queues one
 * kernel on a stream, and returns the error of its launch. Arguments are as in device.h, but
 * no count may be 0. */
#ifndef DDP_DEVICE_KERNELS_CUDA_H
#define DDP_DEVICE_KERNELS_CUDA_H

#include "device/float16.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DDP_CUDA_VALUES = 64 }; /* most values of ddp_cuda_set */

/* Set x[0..count) to host[0..count), which is read before this returns. count: DDP_CUDA_VALUES at
 * most. */
cudaError_t ddp_cuda_set(cudaStream_t stream, float *x, const float *host, size_t count);

cudaError_t ddp_cuda_add(cudaStream_t stream, float *sum, const float *more, size_t count);
cudaError_t ddp_cuda_scale(cudaStream_t stream, float *x, double factor, size_t count);
cudaError_t ddp_cuda_compose(cudaStream_t stream, float *x, double keep, const float *more,
                             size_t count);

enum {
    DDP_CUDA_NODES = 2048
}; /* most nodes of ddp_cuda_sum_nodes: their additions fit a kernel's arguments */

/* Nodes (device/sum.h) that one kernel adds up to larger nodes. */
struct ddp_cuda_sums {
    const float *nodes; /* node i is at nodes + i * stride */
    size_t stride;
    int count;                      /* how many nodes, at most DDP_CUDA_NODES */
    const unsigned char *additions; /* [i]: how many follow node i (ddp_sum_stack); host memory */
    float *sums;                    /* memory for the larger nodes; overlaps no node */
};

/* Add up the nodes of *s, of `count` floats each, to larger nodes as ddp_sum_stack says. Larger
 * node k comes to s->sums + k * count. */
cudaError_t ddp_cuda_sum_nodes(cudaStream_t stream, const struct ddp_cuda_sums *s, size_t count);

/* Pack `count` floats in a format of 16 bits, as ddp_wire_pack does. */
cudaError_t ddp_cuda_pack(cudaStream_t stream, uint16_t *to, const float *from, size_t count,
                          ddp_wire wire);
/* Unpack `count` floats of the 16-bit format `wire` to float32, as ddp_wire_unpack does. */
cudaError_t ddp_cuda_unpack(cudaStream_t stream, float *to, const uint16_t *from, size_t count,
                            ddp_wire wire);

/* If an element of x[0..count) is not finite, set *flag, in pinned host memory, to `number`; else
 * leave it. */
cudaError_t ddp_cuda_check_finite(cudaStream_t stream, const float *x, size_t count, unsigned *flag,
                                  unsigned number);

enum { DDP_CUDA_CHECKSUMS = 512 }; /* how many numbers ddp_cuda_checksum writes */

/* Write DDP_CUDA_CHECKSUMS numbers to sums, in pinned host memory. Their sum modulo 2^64 is a
 * checksum of x[0..count). */
cudaError_t ddp_cuda_checksum(cudaStream_t stream, const float *x, size_t count, uint64_t *sums);

#ifdef __cplusplus
}
#endif

#endif
