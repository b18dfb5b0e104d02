#include "device/device.h"

#include "base/is_finite.h"
#include "device/device_ops.h"

#include <stdlib.h>

int ddp_device_is_host(const ddp_device *d)
{
    return d->ops->is_host;
}

const char *ddp_device_name(const ddp_device *d)
{
    return d->name;
}

ddp_status ddp_device_alloc(ddp_device *d, float **x, size_t count, ddp_error *err)
{
    size_t bytes = (count + 1) * sizeof **x;

    *x = d->ops->alloc(d, bytes);
    if (!*x)
        return ddp_fail(err, DDP_ERR_NOMEM, "no %zu MiB of memory on %s", bytes >> 20, d->name);
    return DDP_OK;
}

void ddp_device_free(ddp_device *d, float *x)
{
    if (x)
        d->ops->free(d, x);
}

void ddp_device_copy(ddp_device *d, float *x, const float *from, size_t count)
{
    if (count > 0)
        d->ops->copy(d, x, from, count);
}

void ddp_device_zero(ddp_device *d, float *x, size_t count)
{
    if (count > 0)
        d->ops->zero(d, x, count);
}

void ddp_device_pull(ddp_device *d, float *host, const float *x, size_t count)
{
    if (count > 0)
        d->ops->pull(d, host, x, count);
}

void ddp_device_push(ddp_device *d, float *x, const float *host, size_t count)
{
    if (count > 0)
        d->ops->push(d, x, host, count);
}

void ddp_device_set(ddp_device *d, float *x, const float *host, size_t count)
{
    if (count > 0)
        d->ops->set(d, x, host, count);
}

void ddp_device_add(ddp_device *d, float *sum, const float *more, size_t count)
{
    if (count > 0)
        d->ops->add(d, sum, more, count);
}

void ddp_device_scale(ddp_device *d, float *x, double factor, size_t count)
{
    if (count > 0)
        d->ops->scale(d, x, factor, count);
}

void ddp_device_compose(ddp_device *d, float *x, double keep, const float *more, size_t count)
{
    if (count > 0)
        d->ops->compose(d, x, keep, more, count);
}

uint64_t ddp_device_checksum(ddp_device *d, const float *x, size_t count)
{
    return count > 0 ? d->ops->checksum(d, x, count) : 0;
}

void ddp_device_synchronize(ddp_device *d)
{
    d->ops->synchronize(d);
}

void ddp_device_memory(ddp_device *d, size_t *used, size_t *total)
{
    d->ops->memory(d, used, total);
}

ddp_status ddp_device_event_open(ddp_device_event **out, ddp_device *d, ddp_error *err)
{
    *out = NULL;
    return d->ops->event_open(out, d, err);
}

void ddp_device_event_close(ddp_device_event *m)
{
    if (m)
        m->device->ops->event_close(m);
}

void ddp_device_event_record(ddp_device_event *m)
{
    m->device->ops->event_record(m);
}

ddp_status ddp_device_queue_open(ddp_device **out, ddp_device *d, ddp_error *err)
{
    *out = NULL;
    return d->ops->queue_open(out, d, err);
}

void ddp_device_queue_close(ddp_device *queue)
{
    if (queue)
        queue->ops->queue_close(queue);
}

void ddp_device_follow(ddp_device *queue, ddp_device *earlier)
{
    queue->ops->follow(queue, earlier);
}

double ddp_device_event_seconds(const ddp_device_event *from, const ddp_device_event *to)
{
    return from->device->ops->event_seconds(from, to);
}

ddp_status ddp_device_check_finite(ddp_device *d, const float *x, size_t count, int *finite,
                                   ddp_error *err)
{
    float *host;

    if (ddp_device_is_host(d)) {
        *finite = ddp_all_finite(x, count);
        return DDP_OK;
    }
    host = malloc((count + 1) * sizeof *host);
    if (!host)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu numbers of %s", count,
                        ddp_device_name(d));
    ddp_device_pull(d, host, x, count);
    *finite = ddp_all_finite(host, count);
    free(host);
    return DDP_OK;
}
