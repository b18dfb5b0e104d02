/* device/cuda.h: a GPU through CUDA: its memory, its two queues, and events between them.
 * Included by device/ and comm/, and by files of algorithms/ named cuda_..., in a build with CUDA.
 *
 * Darknet computes on the default stream. Sums travel on a stream of their own, which the
 * default stream does not wait for (cudaStreamNonBlocking), and events order the two
 * where they must be ordered. No function here waits, but where it says so. */
#ifndef DDP_DEVICE_CUDA_H
#define DDP_DEVICE_CUDA_H

#include "device/device_ops.h"
#include <cuda_runtime_api.h>

typedef struct ddp_cuda {
    ddp_device base; /* first: the two pointers are interchangeable */
    int gpu;
    cudaStream_t compute; /* the framework's: the default stream; of a second queue its own */
    cudaStream_t comm;    /* sums, and copies for sums */
    cudaEvent_t order;    /* of a second queue: what it is told to follow */
    uint64_t *checksums;  /* pinned, DDP_CUDA_CHECKSUMS of them; NULL: none was made yet */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_cuda;

/* The stream of a GPU's work, or of a second queue's. */
static inline cudaStream_t ddp_cuda_stream(const ddp_device *d)
{
    return ((const ddp_cuda *)d)->compute;
}

/* Make GPU number gpu, by CUDA's count, the calling thread's. A call that fails later ends the
 * program through fail. *out is set on success.
 * Fails with DDP_ERR_USAGE (no such GPU), DDP_ERR_NOMEM. */
ddp_status ddp_cuda_open(ddp_cuda **out, int gpu,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err) DDP_MUST_CHECK;
void ddp_cuda_close(ddp_cuda *c); /* NULL is allowed */

/* End the program if a CUDA call failed; `call` is its text, of which the name is printed. */
void ddp_cuda_check(const ddp_cuda *c, cudaError_t rc, const char *call);
#define DDP_CUDA(c, call) ddp_cuda_check(c, call, #call)

/* An event, without or with the time at which it passes. */
cudaEvent_t ddp_cuda_event(const ddp_cuda *c);
cudaEvent_t ddp_cuda_timed_event(const ddp_cuda *c);

/* The event of an event of this device. */
cudaEvent_t ddp_cuda_event_of(const ddp_device_event *m);

/* What is queued on `later` from now on waits for what is queued on `stream` so far. event is used
 * for that, and passes when `stream` gets there. */
void ddp_cuda_order(const ddp_cuda *c, cudaStream_t stream, cudaEvent_t event, cudaStream_t later);

/* Has it passed? */
int ddp_cuda_passed(const ddp_cuda *c, cudaEvent_t event);

/* Host memory that a GPU copies without stopping anything; NULL: none. */
float *ddp_cuda_alloc_pinned(const ddp_cuda *c, size_t count);
void ddp_cuda_free_pinned(const ddp_cuda *c, float *x);

#endif
