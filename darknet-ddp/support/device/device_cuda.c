/* The functions of device/cuda.h, and those of device/device.h for a GPU: its memory, queued work
 * and events. (nvtx_cuda.c has the named ranges.) */
#include "device/cuda.h"
#include "device/kernels_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ddp_cuda *cuda_of(ddp_device *d)
{
    return (ddp_cuda *)d;
}

/* ---- calls ---- */

void ddp_cuda_check(const ddp_cuda *c, cudaError_t rc, const char *call)
{
    ddp_error err;

    if (rc == cudaSuccess)
        return;
    (void)ddp_fail(&err, DDP_ERR_COMM, "CUDA: %.*s failed on GPU %d: %s (%d)",
                   (int)strcspn(call, "("), call, c->gpu, cudaGetErrorString(rc), (int)rc);
    c->fail(&err);
}

int ddp_device_count(void)
{
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError(); /* else the next call would report this error */
        return 0;
    }
    return count;
}

const char *ddp_device_why_none(void)
{
    int count = 0;
    cudaError_t rc = cudaGetDeviceCount(&count);

    (void)cudaGetLastError();
    return rc == cudaSuccess ? "" : cudaGetErrorString(rc);
}

void ddp_device_identify(int gpu, char *text, size_t size)
{
    struct cudaDeviceProp properties;
    const unsigned char *uuid = (const unsigned char *)properties.uuid.bytes;
    size_t used = 0;

    if (cudaGetDeviceProperties(&properties, gpu) != cudaSuccess) {
        (void)cudaGetLastError(); /* ddp_cuda_open will report this error */
        (void)snprintf(text, size, "GPU %d", gpu);
        return;
    }
    for (size_t i = 0; i < sizeof properties.uuid.bytes && used + 2 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%02x", uuid[i]);
}

cudaEvent_t ddp_cuda_event(const ddp_cuda *c)
{
    cudaEvent_t event;

    DDP_CUDA(c, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

cudaEvent_t ddp_cuda_timed_event(const ddp_cuda *c)
{
    cudaEvent_t event;

    DDP_CUDA(c, cudaEventCreateWithFlags(&event, cudaEventDefault));
    return event;
}

void ddp_cuda_order(const ddp_cuda *c, cudaStream_t stream, cudaEvent_t event, cudaStream_t later)
{
    DDP_CUDA(c, cudaEventRecord(event, stream));
    DDP_CUDA(c, cudaStreamWaitEvent(later, event, 0));
}

int ddp_cuda_passed(const ddp_cuda *c, cudaEvent_t event)
{
    cudaError_t rc = cudaEventQuery(event);

    if (rc == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* else Darknet would find it there */
        return 0;
    }
    ddp_cuda_check(c, rc, "cudaEventQuery");
    return 1;
}

float *ddp_cuda_alloc_pinned(const ddp_cuda *c, size_t count)
{
    void *x = NULL;

    (void)c;
    if (cudaMallocHost(&x, (count + 1) * sizeof(float)) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return x;
}

void ddp_cuda_free_pinned(const ddp_cuda *c, float *x)
{
    if (x)
        DDP_CUDA(c, cudaFreeHost(x));
}

/* ---- device.h ---- */

static void *cuda_alloc(ddp_device *d, size_t bytes)
{
    ddp_cuda *c = cuda_of(d);
    void *x = NULL;
    cudaError_t rc = cudaMalloc(&x, bytes);

    if (rc == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return NULL;
    }
    ddp_cuda_check(c, rc, "cudaMalloc");
    DDP_CUDA(c, cudaMemsetAsync(x, 0, bytes, c->compute));
    return x;
}

static void cuda_free(ddp_device *d, float *x)
{
    DDP_CUDA(cuda_of(d), cudaFree(x));
}

static void cuda_copy(ddp_device *d, float *x, const float *from, size_t count)
{
    DDP_CUDA(cuda_of(d), cudaMemcpyAsync(x, from, count * sizeof *x, cudaMemcpyDeviceToDevice,
                                         cuda_of(d)->compute));
}

static void cuda_zero(ddp_device *d, float *x, size_t count)
{
    DDP_CUDA(cuda_of(d), cudaMemsetAsync(x, 0, count * sizeof *x, cuda_of(d)->compute));
}

/* Copy in the order of this device's queue, which cudaMemcpy does not know, and wait. */
static void copy_and_wait(ddp_cuda *c, void *to, const void *from, size_t count,
                          enum cudaMemcpyKind kind)
{
    DDP_CUDA(c, cudaMemcpyAsync(to, from, count * sizeof(float), kind, c->compute));
    DDP_CUDA(c, cudaStreamSynchronize(c->compute));
}

static void cuda_pull(ddp_device *d, float *host, const float *x, size_t count)
{
    copy_and_wait(cuda_of(d), host, x, count, cudaMemcpyDeviceToHost);
}

static void cuda_push(ddp_device *d, float *x, const float *host, size_t count)
{
    copy_and_wait(cuda_of(d), x, host, count, cudaMemcpyHostToDevice);
}

static void cuda_set(ddp_device *d, float *x, const float *host, size_t count)
{
    for (size_t at = 0; at < count; at += DDP_CUDA_VALUES) {
        size_t n = count - at < DDP_CUDA_VALUES ? count - at : DDP_CUDA_VALUES;

        DDP_CUDA(cuda_of(d), ddp_cuda_set(cuda_of(d)->compute, x + at, host + at, n));
    }
}

static void cuda_add(ddp_device *d, float *sum, const float *more, size_t count)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_add(cuda_of(d)->compute, sum, more, count));
}

static void cuda_scale(ddp_device *d, float *x, double factor, size_t count)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_scale(cuda_of(d)->compute, x, factor, count));
}

static void cuda_compose(ddp_device *d, float *x, double keep, const float *more, size_t count)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_compose(cuda_of(d)->compute, x, keep, more, count));
}

static uint64_t cuda_checksum(ddp_device *d, const float *x, size_t count)
{
    ddp_cuda *c = cuda_of(d);
    uint64_t sum = 0;

    if (!c->checksums)
        DDP_CUDA(c, cudaMallocHost((void **)&c->checksums, DDP_CUDA_CHECKSUMS * sizeof sum));
    DDP_CUDA(c, ddp_cuda_checksum(c->compute, x, count, c->checksums));
    DDP_CUDA(c, cudaStreamSynchronize(c->compute));
    for (int i = 0; i < DDP_CUDA_CHECKSUMS; i++)
        sum += c->checksums[i];
    return sum;
}

static void cuda_synchronize(ddp_device *d)
{
    DDP_CUDA(cuda_of(d), cudaDeviceSynchronize());
}

static void cuda_memory(ddp_device *d, size_t *used, size_t *total)
{
    size_t left;

    DDP_CUDA(cuda_of(d), cudaMemGetInfo(&left, total));
    *used = *total - left;
}

struct cuda_event {
    ddp_device_event base;
    cudaEvent_t event;
};

static ddp_status cuda_event_open(ddp_device_event **out, ddp_device *d, ddp_error *err)
{
    struct cuda_event *m = calloc(1, sizeof *m);

    if (!m)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for an event");
    m->base.device = d;
    m->event = ddp_cuda_timed_event(cuda_of(d));
    *out = &m->base;
    return DDP_OK;
}

cudaEvent_t ddp_cuda_event_of(const ddp_device_event *m)
{
    return ((const struct cuda_event *)m)->event;
}

static void cuda_event_close(ddp_device_event *m)
{
    DDP_CUDA(cuda_of(m->device), cudaEventDestroy(((struct cuda_event *)m)->event));
    free(m);
}

static void cuda_event_record(ddp_device_event *m)
{
    DDP_CUDA(cuda_of(m->device),
             cudaEventRecord(((struct cuda_event *)m)->event, cuda_of(m->device)->compute));
}

static double cuda_event_seconds(const ddp_device_event *from, const ddp_device_event *to)
{
    ddp_cuda *c = cuda_of(from->device);
    cudaEvent_t start = ((const struct cuda_event *)from)->event;
    cudaEvent_t end = ((const struct cuda_event *)to)->event;
    float ms = 0;

    DDP_CUDA(c, cudaEventSynchronize(start));
    DDP_CUDA(c, cudaEventSynchronize(end));
    DDP_CUDA(c, cudaEventElapsedTime(&ms, start, end));
    return (double)ms / 1e3;
}

/* ---- a second queue ---- */

/* Open a stream of the first priority: sums, and the work for them, should not wait behind kernels
 * that were queued before. */
static cudaStream_t open_stream(const ddp_cuda *c)
{
    int lowest, highest;
    cudaStream_t stream;

    DDP_CUDA(c, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    DDP_CUDA(c, cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
    return stream;
}

static ddp_status cuda_queue_open(ddp_device **out, ddp_device *d, ddp_error *err)
{
    ddp_cuda *queue = calloc(1, sizeof *queue);

    if (!queue)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a queue of a GPU");
    *queue = *cuda_of(d);
    queue->checksums = NULL;
    queue->compute = open_stream(queue);
    queue->order = ddp_cuda_event(queue);
    *out = &queue->base;
    return DDP_OK;
}

/* Free the memory of checksums. Waits for what uses it. */
static void free_scratch(ddp_cuda *c)
{
    if (c->checksums)
        DDP_CUDA(c, cudaFreeHost(c->checksums));
}

static void cuda_queue_close(ddp_device *queue)
{
    ddp_cuda *c = cuda_of(queue);

    free_scratch(c);
    DDP_CUDA(c, cudaEventDestroy(c->order));
    DDP_CUDA(c, cudaStreamDestroy(c->compute));
    free(c);
}

static void cuda_follow(ddp_device *queue, ddp_device *earlier)
{
    ddp_cuda *c = cuda_of(queue);

    ddp_cuda_order(c, cuda_of(earlier)->compute, c->order, c->compute);
}

static const struct ddp_device_ops cuda_ops = {
    .is_host = 0,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy = cuda_copy,
    .zero = cuda_zero,
    .pull = cuda_pull,
    .push = cuda_push,
    .set = cuda_set,
    .add = cuda_add,
    .scale = cuda_scale,
    .compose = cuda_compose,
    .checksum = cuda_checksum,
    .synchronize = cuda_synchronize,
    .memory = cuda_memory,
    .event_open = cuda_event_open,
    .event_close = cuda_event_close,
    .event_record = cuda_event_record,
    .event_seconds = cuda_event_seconds,
    .queue_open = cuda_queue_open,
    .queue_close = cuda_queue_close,
    .follow = cuda_follow,
};

/* ---- opening ---- */

ddp_status ddp_cuda_open(ddp_cuda **out, int gpu,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err)
{
    int count = ddp_device_count();
    struct cudaDeviceProp properties;
    ddp_cuda *c;

    *out = NULL;
    if (gpu < 0 || gpu >= count)
        return ddp_fail(err, DDP_ERR_USAGE, "no GPU %d: this process sees %d", gpu, count);
    c = calloc(1, sizeof *c);
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a GPU");
    c->base.ops = &cuda_ops;
    c->gpu = gpu;
    c->fail = fail;
    DDP_CUDA(c, cudaSetDevice(c->gpu));
    DDP_CUDA(c, cudaGetDeviceProperties(&properties, c->gpu));
    memcpy(c->base.name, properties.name, sizeof c->base.name);
    c->base.name[sizeof c->base.name - 1] = '\0';
    c->compute = 0;
    c->comm = open_stream(c);
    *out = c;
    return DDP_OK;
}

void ddp_cuda_close(ddp_cuda *c)
{
    if (!c)
        return;
    DDP_CUDA(c, cudaStreamDestroy(c->comm));
    free_scratch(c);
    free(c);
}
