/* The functions of device/device.h for host memory. Each call does its work at once. */
#include "base/clock.h"
#include "base/huge_pages.h"
#include "device/device_ops.h"
#include "device/sum.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void *host_alloc(ddp_device *d, size_t bytes)
{
    (void)d;
    return ddp_pages_alloc(bytes);
}

static void host_free(ddp_device *d, float *x)
{
    (void)d;
    free(x);
}

static void host_copy(ddp_device *d, float *x, const float *from, size_t count)
{
    (void)d;
    memcpy(x, from, count * sizeof *x);
}

static void host_zero(ddp_device *d, float *x, size_t count)
{
    (void)d;
    memset(x, 0, count * sizeof *x);
}

static void host_add(ddp_device *d, float *sum, const float *more, size_t count)
{
    float *const parts[] = {sum, (float *)more};

    (void)d;
    ddp_sum_tree(parts, 2, 0, count, DDP_WIRE_FP32);
}

static void host_scale(ddp_device *d, float *x, double factor, size_t count)
{
    (void)d;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(factor * (double)x[i]);
}

static void host_compose(ddp_device *d, float *x, double keep, const float *more, size_t count)
{
    (void)d;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(keep * (double)x[i] + (double)more[i]);
}

static uint64_t host_checksum(ddp_device *d, const float *x, size_t count)
{
    (void)d;
    return XXH3_64bits(x, count * sizeof *x);
}

static void host_synchronize(ddp_device *d)
{
    (void)d;
}

static void host_memory(ddp_device *d, size_t *used, size_t *total)
{
    (void)d;
    *used = *total = 0;
}

struct host_event {
    ddp_device_event base;
    int64_t at_ns;
};

static ddp_status host_event_open(ddp_device_event **out, ddp_device *d, ddp_error *err)
{
    struct host_event *m = calloc(1, sizeof *m);

    if (!m)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for an event");
    m->base.device = d;
    *out = &m->base;
    return DDP_OK;
}

static void host_event_close(ddp_device_event *m)
{
    free(m);
}

static void host_event_record(ddp_device_event *m)
{
    ((struct host_event *)m)->at_ns = ddp_clock_ns();
}

static double host_event_seconds(const ddp_device_event *from, const ddp_device_event *to)
{
    return (double)(((const struct host_event *)to)->at_ns
                    - ((const struct host_event *)from)->at_ns)
           / 1e9;
}

static ddp_status host_queue_open(ddp_device **out, ddp_device *d, ddp_error *err)
{
    (void)err;
    *out = d;
    return DDP_OK;
}

static void host_queue_close(ddp_device *queue)
{
    (void)queue;
}

static void host_follow(ddp_device *queue, ddp_device *earlier)
{
    (void)queue, (void)earlier;
}

static const struct ddp_device_ops host_ops = {
    .is_host = 1,
    .alloc = host_alloc,
    .free = host_free,
    .copy = host_copy,
    .zero = host_zero,
    .pull = host_copy,
    .push = host_copy,
    .set = host_copy,
    .add = host_add,
    .scale = host_scale,
    .compose = host_compose,
    .checksum = host_checksum,
    .synchronize = host_synchronize,
    .memory = host_memory,
    .event_open = host_event_open,
    .event_close = host_event_close,
    .event_record = host_event_record,
    .event_seconds = host_event_seconds,
    .queue_open = host_queue_open,
    .queue_close = host_queue_close,
    .follow = host_follow,
};

ddp_device *ddp_device_host(void)
{
    static ddp_device host = {.ops = &host_ops, .name = "CPU"};

    return &host;
}
