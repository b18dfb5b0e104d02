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

/* Most values that travel as a kernel's argument. They are read when the kernel is queued. */
enum { DDP_CUDA_VALUES = 64 };

/* Set x[0..count) to host[0..count); count is at most DDP_CUDA_VALUES. */
cudaError_t ddp_cuda_set(cudaStream_t stream, float *x, const float *host, size_t count);

cudaError_t ddp_cuda_add(cudaStream_t stream, float *sum, const float *more, size_t count);
cudaError_t ddp_cuda_scale(cudaStream_t stream, float *x, double factor, size_t count);
cudaError_t ddp_cuda_compose(cudaStream_t stream, float *x, double keep, const float *more,
                             size_t count);

/* Most nodes of ddp_cuda_sums: their additions travel as an argument of the kernel. */
enum { DDP_CUDA_NODES = 2048 };

/* Nodes of the tree in device/sum.h that one kernel adds up to larger nodes. */
struct ddp_cuda_sums {
    const float *nodes; /* node p is at nodes + p * stride */
    size_t stride;
    int count;                      /* how many nodes, at most DDP_CUDA_NODES */
    const unsigned char *additions; /* for each node, as ddp_sum_stack writes it; host memory */
    float *sums; /* larger node k comes to sums + k * sums_stride; overlaps no node */
    size_t sums_stride;
};

/* Add up the nodes of *s to the larger nodes that s->additions says. Each node has `count`
 * floats. */
cudaError_t ddp_cuda_sum_nodes(cudaStream_t stream, const struct ddp_cuda_sums *s, size_t count);

/* Round floats to 16 bits and pack them, as ddp_wire_pack does. */
cudaError_t ddp_cuda_pack(cudaStream_t stream, uint16_t *to, const float *from, size_t count,
                          ddp_wire wire);
/* Unpack `count` floats of 16 bits to float32, as ddp_wire_unpack does. */
cudaError_t ddp_cuda_unpack(cudaStream_t stream, float *to, const uint16_t *from, size_t count,
                            ddp_wire wire);

/* Set *flag, in pinned host memory, to `number` if an element of x[0..count) is not finite; else
 * leave it. */
cudaError_t ddp_cuda_check_finite(cudaStream_t stream, const float *x, size_t count, unsigned *flag,
                                  unsigned number);

enum { DDP_CUDA_CHECKSUMS = 512 };

/* Write DDP_CUDA_CHECKSUMS numbers to sums, in pinned host memory. Their sum modulo 2^64 is a
 * checksum of x[0..count). */
cudaError_t ddp_cuda_checksum(cudaStream_t stream, const float *x, size_t count, uint64_t *sums);

#ifdef __cplusplus
}
#endif

#endif
