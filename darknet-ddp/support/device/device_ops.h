/* device/device_ops.h: a table of functions, of which the host has one and a GPU another. Function
 * NAME does what device.h says of ddp_device_NAME. Only device/ includes this file. */
#ifndef DDP_DEVICE_DEVICE_OPS_H
#define DDP_DEVICE_DEVICE_OPS_H

#include "device/device.h"

struct ddp_device_ops {
    int is_host;
    void *(*alloc)(ddp_device *d, size_t bytes); /* zeroed memory; NULL: there is none */
    void (*free)(ddp_device *d, float *x);
    void (*copy)(ddp_device *d, float *x, const float *from, size_t count);
    void (*zero)(ddp_device *d, float *x, size_t count);
    void (*pull)(ddp_device *d, float *host, const float *x, size_t count);
    void (*push)(ddp_device *d, float *x, const float *host, size_t count);
    void (*set)(ddp_device *d, float *x, const float *host, size_t count);
    void (*add)(ddp_device *d, float *sum, const float *more, size_t count);
    void (*scale)(ddp_device *d, float *x, double factor, size_t count);
    void (*compose)(ddp_device *d, float *x, double keep, const float *more, size_t count);
    uint64_t (*checksum)(ddp_device *d, const float *x, size_t count);
    void (*synchronize)(ddp_device *d);
    void (*memory)(ddp_device *d, size_t *used, size_t *total);
    ddp_status (*event_open)(ddp_device_event **out, ddp_device *d,
                             ddp_error *err); /* must set (*out)->device, too */
    void (*event_close)(ddp_device_event *m);
    void (*event_record)(ddp_device_event *m);
    double (*event_seconds)(const ddp_device_event *from, const ddp_device_event *to);
    ddp_status (*queue_open)(ddp_device **out, ddp_device *d, ddp_error *err);
    void (*queue_close)(ddp_device *queue);
    void (*follow)(ddp_device *queue, ddp_device *earlier);
};

/* A device. The struct of each kind of device begins with this one, and that of its events with
 * ddp_device_event. */
struct ddp_device {
    const struct ddp_device_ops *ops;
    char name[256];
};

struct ddp_device_event {
    ddp_device *device;
};

#endif
