/* device/cuda.h: a GPU as a ddp_device, with its CUDA streams and events. In a build with CUDA,
 * device/, nccl/ and algorithms/.../..._cuda.c include it.
 *
 * Darknet computes on the default stream. Allreduces run on streams of their own, which do not wait
 * for the default stream (cudaStreamNonBlocking). Events order them where they must be ordered. */
#ifndef DDP_DEVICE_CUDA_H
#define DDP_DEVICE_CUDA_H

#include "device/device_ops.h"
#include <cuda_runtime_api.h>

typedef struct ddp_cuda {
    ddp_device base;      /* first, so that a ddp_device * of a GPU is a ddp_cuda * */
    int gpu;              /* CUDA's number of the GPU */
    cudaStream_t compute; /* stream of computations: the default one; a second queue has its own */
    cudaStream_t comm;    /* a stream of allreduces, and of copies for them */
    cudaEvent_t order;    /* event that ddp_device_follow records; only in a second queue */
    uint64_t *checksums;  /* DDP_CUDA_CHECKSUMS numbers, pinned; NULL until needed */
    /* called when a CUDA call has failed: ends the program */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_cuda;

/* Return the stream on which work of d is queued; d is a GPU, or a second queue of one. */
static inline cudaStream_t ddp_cuda_stream(const ddp_device *d)
{
    return ((const ddp_cuda *)d)->compute;
}

/* Open GPU number gpu, by CUDA's count, and make it the calling thread's current GPU; any other
 * thread that uses it must do so, too. If a CUDA call fails, here or later, fail(err) is called,
 * which must end the program. *out is set on success. Fails with DDP_ERR_USAGE (no such GPU),
 * DDP_ERR_NOMEM. */
ddp_status ddp_cuda_open(ddp_cuda **out, int gpu,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err) DDP_MUST_CHECK;
void ddp_cuda_close(ddp_cuda *c); /* closes the GPU and frees c; NULL is allowed */

/* End the program through c->fail if rc is an error. call: text of the CUDA call, whose name goes
 * into the error. */
void ddp_cuda_check(const ddp_cuda *c, cudaError_t rc, const char *call);
#define DDP_CUDA(c, call) ddp_cuda_check(c, call, #call)

/* Make an event that does not record the time at which it passes. The caller destroys it. */
cudaEvent_t ddp_cuda_event(const ddp_cuda *c);
/* Make an event that records the time at which it passes. The caller destroys it. */
cudaEvent_t ddp_cuda_timed_event(const ddp_cuda *c);

/* Return the CUDA event in m, an event of a GPU. m owns it. */
cudaEvent_t ddp_cuda_event_of(const ddp_device_event *m);

/* Make all work that is queued on `later` from now on wait for the work that is queued on `stream`
 * so far. Records event on `stream`. */
void ddp_cuda_order(const ddp_cuda *c, cudaStream_t stream, cudaEvent_t event, cudaStream_t later);

/* Return 1 if all work before the event is done, or it was never recorded; else 0. */
int ddp_cuda_passed(const ddp_cuda *c, cudaEvent_t event);

/* Allocate `count` floats of pinned host memory, from and to which a GPU copies beside its other
 * work; it is not zeroed. Returns NULL on failure. Free with ddp_cuda_free_pinned. */
float *ddp_cuda_alloc_pinned(const ddp_cuda *c, size_t count);
/* Free memory of ddp_cuda_alloc_pinned. Waits for the GPU's work that uses it. NULL is allowed. */
void ddp_cuda_free_pinned(const ddp_cuda *c, float *x);

#endif
