/* device/device.h: memory of a device, and work on it.
 *
 * A device is the host, or one GPU. On the host a call does its work before it returns. On a GPU it
 * queues the work on the default stream, on which the framework computes, too. (A second queue has
 * its own stream.) A stream runs its work in order. Only free, pull, push, check_finite, checksum,
 * synchronize and event_seconds wait for a GPU; alloc and queue_close may.
 *
 * If work on a GPU fails, the program ends with the CUDA call's name (ddp_cuda_open's `fail`). CUDA
 * may report an error late, from a later call, so that a caller could mend nothing.
 *
 *   count    a number of float32 elements, never of bytes
 *   x        memory of the device; ranges of one call do not overlap
 *   host     host memory of any kind */
#ifndef DDP_DEVICE_DEVICE_H
#define DDP_DEVICE_DEVICE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_device ddp_device;

/* An event: a point in the order of a device's work, with its time. */
typedef struct ddp_device_event ddp_device_event;

/* Return the host as a device; it is never released. */
ddp_device *ddp_device_host(void);

/* Return how many GPUs this process sees; 0 in a build for CPUs and without a driver. */
int ddp_device_count(void);

/* Return why this process sees no GPU, in CUDA's words: "no CUDA-capable device is detected". The
 * text stays valid. It is "" if there is a GPU, and in a build for CPUs. */
const char *ddp_device_why_none(void);

/* Write a name of GPU number `gpu` of this process to text[0..size); size is at least 33. The name
 * is the GPU's UUID in hexadecimal digits, which all processes of the host see alike. It is "GPU N"
 * if CUDA does not tell the UUID, and "" in a build for CPUs. */
void ddp_device_identify(int gpu, char *text, size_t size);

/* Begin a named range for a profiler of GPUs (NVTX): all that the calling thread does until
 * ddp_device_range_pop. Ranges nest. Does nothing in a build without NVTX. */
void ddp_device_range_push(const char *name);
void ddp_device_range_pop(void);

/* Return 1 if d is the host, 0 if it is a GPU. */
int ddp_device_is_host(const ddp_device *d);

/* Return "CPU", or the GPU's name in its driver's words. The text lives as long as the device. */
const char *ddp_device_name(const ddp_device *d);

/* Allocate *x, `count` zeroed floats, aligned to 4096 bytes on the host, 256 on a GPU. count 0 is
 * allowed. Free with ddp_device_free. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_alloc(ddp_device *d, float **x, size_t count, ddp_error *err) DDP_MUST_CHECK;
void ddp_device_free(ddp_device *d, float *x); /* frees x; NULL is allowed */

/* Copy from[0..count), memory of the device, to x. */
void ddp_device_copy(ddp_device *d, float *x, const float *from, size_t count);
/* Set x[0..count) to 0. */
void ddp_device_zero(ddp_device *d, float *x, size_t count);

/* Copy from x to host memory. Waits until `host` holds the values. */
void ddp_device_pull(ddp_device *d, float *host, const float *x, size_t count);
/* Copy from host memory to x. Waits until `host` may be changed again. */
void ddp_device_push(ddp_device *d, float *x, const float *host, size_t count);

/* Copy a few values from host memory to x, without waiting. `host` may be changed at once. */
void ddp_device_set(ddp_device *d, float *x, const float *host, size_t count);

/* Add more[i] to sum[i], for each i below count. */
void ddp_device_add(ddp_device *d, float *sum, const float *more, size_t count);

/* Multiply each x[i] by factor, computed in double. */
void ddp_device_scale(ddp_device *d, float *x, double factor, size_t count);

/* Set each x[i] to keep * x[i] + more[i], computed in double. */
void ddp_device_compose(ddp_device *d, float *x, double keep, const float *more, size_t count);

/* Set *finite to 1 if every element of x is finite, else to 0. Waits for a GPU and copies all of x
 * to the host, which takes its time. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_check_finite(ddp_device *d, const float *x, size_t count, int *finite,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Return a checksum of x[0..count), which depends on each of its bits. The same bits have the same
 * checksum on every device of one kind. Waits for a GPU. */
uint64_t ddp_device_checksum(ddp_device *d, const float *x, size_t count);

/* Wait until all work of the device is done, that of second queues, too. */
void ddp_device_synchronize(ddp_device *d);

/* Set *used to the bytes of the GPU's memory that all processes use together, and *total to its
 * size in bytes. Sets both to 0 on the host. */
void ddp_device_memory(ddp_device *d, size_t *used, size_t *total);

/* Make an event for d, which can be recorded again and again. *out is set on success; close it
 * before d. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_event_open(ddp_device_event **out, ddp_device *d,
                                 ddp_error *err) DDP_MUST_CHECK;
void ddp_device_event_close(ddp_device_event *m);  /* frees m; NULL is allowed */
void ddp_device_event_record(ddp_device_event *m); /* puts m behind its device's queued work */

/* Open a second queue of work on GPU d: another ddp_device with the same memory. Work of the two
 * queues does not wait for each other, unless ddp_device_follow orders it. On the host *out becomes
 * d. *out is set on success; close it before d. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_device_queue_open(ddp_device **out, ddp_device *d, ddp_error *err) DDP_MUST_CHECK;
void ddp_device_queue_close(ddp_device *queue); /* frees the queue; it may be NULL or the host */

/* Make all work that is queued on `queue` from now on wait for the work that is queued so far on
 * `earlier`, the device that the queue was opened for. Does nothing on the host. */
void ddp_device_follow(ddp_device *queue, ddp_device *earlier);

/* Return the seconds from one recorded event of a device to another; waits for both to pass. */
double ddp_device_event_seconds(const ddp_device_event *from, const ddp_device_event *to);

#endif
