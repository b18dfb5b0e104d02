/* device/device.h: memory of a device, and work on it.
 *
 * A device is the host, or one GPU. Work on a GPU is queued in the order in which the
 * framework computes there (its default stream): a call returns before the work is
 * done, and what the framework queues afterwards sees it done. On the host a call does
 * the work. Only pull, checksum, synchronize and seconds wait for a GPU.
 *
 * A CUDA call that fails ends the program through the device's fail function, with the
 * call's name: CUDA reports errors late, from any later call, so that a caller could
 * mend nothing.
 *
 *   count    a number of float32 elements, never of bytes
 *   x        memory of the device; ranges of one call do not overlap
 *   host     host memory of any kind
 */
#ifndef DDP_DEVICE_DEVICE_H
#define DDP_DEVICE_DEVICE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_device ddp_device;

/* A moment in the device's work. */
typedef struct ddp_device_event ddp_device_event;

/* The host; it is never released. */
ddp_device *ddp_device_host(void);

/* How many GPUs this process sees; 0 in a build for CPUs and without a driver. */
int ddp_device_count(void);

/* Why there are none, in CUDA's words: "no CUDA-capable device is detected". Empty where there
 * are some, and in a build for CPUs. Stays valid. */
const char *ddp_device_none_because(void);

/* What tells GPU number gpu, of those that this process sees, from every other of its host,
 * under whatever number another process sees it: its UUID in hexadecimal digits. text has size
 * bytes, 33 or more. Empty in a build for CPUs. */
void ddp_device_identify(int gpu, char *text, size_t size);

/* What the calling thread does from here on, until the pop, for a profiler of GPUs: ranges of NVTX,
 * which nest. Nothing in a build for CPUs. */
void ddp_device_range_push(const char *name);
void ddp_device_range_pop(void);

int ddp_device_is_host(const ddp_device *d);

/* "CPU", or the GPU's name as its driver tells it. Lives as long as the device. */
const char *ddp_device_name(const ddp_device *d);

/* *x becomes count zeroed elements, 4096 bytes aligned on the host, 256 on a GPU.
 * count 0 is allowed. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_alloc(ddp_device *d, float **x, size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_device_free(ddp_device *d, float *x); /* NULL is allowed */

void ddp_device_copy(ddp_device *d, float *x, const float *from, size_t count);
void ddp_device_zero(ddp_device *d, float *x, size_t count);

/* From and to host memory. Pull waits until host holds the values. Push returns when host
 * may be changed again. */
void ddp_device_pull(ddp_device *d, float *host, const float *x, size_t count);
void ddp_device_push(ddp_device *d, float *x, const float *host, size_t count);

/* As push, for a few values, without waiting for anything. */
void ddp_device_set(ddp_device *d, float *x, const float *host, size_t count);

/* sum[i] += more[i] */
void ddp_device_add(ddp_device *d, float *sum, const float *more, size_t count);

/* x[i] = factor * x[i], in double, rounded once. */
void ddp_device_scale(ddp_device *d, float *x, double factor, size_t count);

/* x[i] = keep * x[i] + more[i], in double, rounded once. */
void ddp_device_compose(ddp_device *d, float *x, double keep, const float *more, size_t count);

/* *finite: is every element of x a finite number? Waits for a GPU and copies all of x: for where
 * time does not matter. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_look(ddp_device *d, const float *x, size_t count, int *finite,
                           ddp_error *err) DDP_MUST_CHECK;

/* A number that another bit anywhere in x would change; the same for the same bits on every device
 * of one kind. Waits for a GPU. */
uint64_t ddp_device_checksum(ddp_device *d, const float *x, size_t count);

/* Wait until all work is done. */
void ddp_device_synchronize(ddp_device *d);

/* An event that can be set again and again. *out is set on success.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_event_open(ddp_device_event **out, ddp_device *d,
                                 ddp_error *err) DDP_MUST_CHECK;
void ddp_device_event_close(ddp_device_event *m);  /* NULL is allowed */
void ddp_device_event_record(ddp_device_event *m); /* now, behind all work queued so far */

/* A second queue of work of a GPU, beside its framework's: a device with the same memory, whose
 * work waits for none of the first's but where it is told to, and holds up none. The host has none:
 * it is its own. *out is set on success; close it before the device. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_queue_open(ddp_device **out, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;
void ddp_device_queue_close(ddp_device *queue); /* NULL is allowed, and the host */

/* What is queued on `queue`, of ddp_device_queue_open, from here on waits for what is queued so far
 * on the device `earlier`, which it was opened of. */
void ddp_device_follow(ddp_device *queue, ddp_device *earlier);

/* Seconds from one event of a device to another, both set; waits until both have passed. */
double ddp_device_event_seconds(const ddp_device_event *from, const ddp_device_event *to);

#endif
