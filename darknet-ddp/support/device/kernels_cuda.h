/* device/kernels_cuda.h: what a GPU computes for sums. Each queues one kernel on a stream and
 * returns what launching it returned. Arguments are as in device.h. */
#ifndef DDP_DEVICE_KERNELS_CUDA_H
#define DDP_DEVICE_KERNELS_CUDA_H

#include "device/float16.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values that travel as a kernel's argument, and so are read when it is queued. */
enum { DDP_CUDA_VALUES = 64 };

/* x[0..count) = host[0..count), count at most DDP_CUDA_VALUES. */
cudaError_t ddp_cuda_set(cudaStream_t stream, float *x, const float *host, size_t count);

cudaError_t ddp_cuda_add(cudaStream_t stream, float *sum, const float *more, size_t count);
cudaError_t ddp_cuda_scale(cudaStream_t stream, float *x, double factor, size_t count);
cudaError_t ddp_cuda_compose(cudaStream_t stream, float *x, double keep, const float *more,
                             size_t count);

/* What comes together in one kernel, at most: its additions travel as an argument. */
enum { DDP_CUDA_PARTS = 2048 };

/* Nodes of the tree of device/sum.h, that are to become larger ones. */
struct ddp_cuda_sums {
    const float *parts; /* node p at parts + p * stride */
    size_t stride;
    int count;                      /* of nodes, at most DDP_CUDA_PARTS */
    const unsigned char *additions; /* as ddp_sum_stack has them; host memory */
    float *sums;                    /* larger node k at sums + k * sums_stride; no part is there */
    size_t sums_stride;
};

/* `count` elements of each. */
cudaError_t ddp_cuda_sum_parts(cudaStream_t stream, const struct ddp_cuda_sums *s, size_t count);

/* As ddp_wire_pack and ddp_wire_unpack of device/wire.h. */
cudaError_t ddp_cuda_pack(cudaStream_t stream, uint16_t *to, const float *from, size_t count,
                          ddp_wire wire);
cudaError_t ddp_cuda_unpack(cudaStream_t stream, float *to, const uint16_t *from, size_t count,
                            ddp_wire wire);

/* *flag, pinned host memory, becomes number if some element of x[0..count) is not finite. */
cudaError_t ddp_cuda_check_finite(cudaStream_t stream, const float *x, size_t count, unsigned *flag,
                                  unsigned number);

/* parts, pinned host memory with room for DDP_CUDA_CHECKSUMS numbers: these add up, modulo 2^64, to
 * a checksum of x[0..count). */
enum { DDP_CUDA_CHECKSUMS = 512 };
cudaError_t ddp_cuda_checksum(cudaStream_t stream, const float *x, size_t count, uint64_t *parts);

#ifdef __cplusplus
}
#endif

#endif
