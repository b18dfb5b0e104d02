/* A group's sums: what every engine (comm/backend.h) has in common. */
#include "comm/allreduce.h"

#include "comm/backend.h"

#include <stdlib.h>

static ddp_status open_events(ddp_allreduce *a, ddp_device *d, ddp_error *err)
{
    ddp_status st = ddp_device_event_open(&a->began, d, err);

    return st ? st : ddp_device_event_open(&a->ended, d, err);
}

static void free_sum(ddp_allreduce *a)
{
    ddp_device_event_close(a->began);
    ddp_device_event_close(a->ended);
    free(a);
}

static ddp_status name_what(const ddp_allreduce *wanted, ddp_error *err)
{
    return wanted->count_each
               ? ddp_wrap(err, "prepare an all-gather of %zu floats a rank", wanted->count_each)
               : ddp_wrap(err, "prepare a sum of %zu floats", wanted->count);
}

ddp_status ddp_allreduce_prepare(ddp_allreduce **out, const ddp_allreduce *wanted, ddp_error *err)
{
    ddp_group *g = wanted->group;
    ddp_allreduce *a;
    ddp_status st;

    *out = NULL;
    st = ddp_group_check_alive(g, err);
    if (st)
        return st;
    a = malloc(sizeof *a);
    if (!a)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    *a = *wanted;
    a->number = g->sums_open > 0 ? g->sums_opened + 1 : 1;
    a->engine = ddp_device_is_host(a->device) ? g->host_sums : g->gpu_ops->sums;
    st = open_events(a, a->device, err);
    if (!st)
        st = a->engine->open(a, err);
    if (st) {
        free_sum(a);
        return ddp_group_keep_failure(g, name_what(wanted, err), err);
    }
    g->sums_opened = a->number;
    g->sums_open++;
    *out = a;
    return DDP_OK;
}

ddp_status ddp_allreduce_open_on(ddp_allreduce **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err)
{
    const ddp_allreduce wanted = {
        .group = g, .device = d, .buf = buf, .count = count, .wire = wire};

    return ddp_allreduce_prepare(out, &wanted, err);
}

ddp_status ddp_allreduce_open(ddp_allreduce **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err)
{
    return ddp_allreduce_open_on(out, g, ddp_device_host(), buf, count, DDP_WIRE_FP32, err);
}

void ddp_allreduce_close(ddp_allreduce *a)
{
    if (!a)
        return;
    ddp_group_abort_queued(a->group);
    a->engine->close(a);
    a->group->sums_open--;
    free_sum(a);
}

static ddp_status start(ddp_allreduce *a, ddp_allreduce_phase phase, ddp_device *behind,
                        ddp_error *err)
{
    ddp_group *g = a->group;
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (a->engine->in_flight(a))
        return ddp_fail(err, DDP_ERR_USAGE, "%s %d is in flight already",
                        ddp_allreduce_kind(a->count_each > 0), a->number);
    if (a->count_each && phase != DDP_ALLREDUCE)
        return ddp_fail(err, DDP_ERR_USAGE, "all-gather %d has no halves", a->number);
    a->started = 1;
    a->phase = phase;
    a->behind = behind;
    if (a->count == 0)
        return DDP_OK;
    return ddp_group_keep_failure(g, a->engine->start(a, err), err);
}

ddp_status ddp_allreduce_start(ddp_allreduce *a, ddp_error *err)
{
    return start(a, DDP_ALLREDUCE, a->device, err);
}

ddp_status ddp_allreduce_start_behind(ddp_allreduce *a, ddp_device *behind, ddp_error *err)
{
    return start(a, DDP_ALLREDUCE, behind, err);
}

ddp_status ddp_allreduce_start_phase(ddp_allreduce *a, ddp_allreduce_phase phase, ddp_error *err)
{
    return start(a, phase, a->device, err);
}

int ddp_allreduce_done(const ddp_allreduce *a)
{
    return a->started && a->engine->done(a);
}

int ddp_allreduce_fence_waits(const ddp_allreduce *a)
{
    return a->engine->fence_waits(a);
}

int ddp_allreduce_finite(ddp_allreduce *a)
{
    return a->engine->finite(a);
}

const ddp_device_event *ddp_allreduce_began(const ddp_allreduce *a)
{
    return a->began;
}

const ddp_device_event *ddp_allreduce_ended(const ddp_allreduce *a)
{
    return a->ended;
}

static ddp_status check_started(const ddp_allreduce *a, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(a->group, err);

    if (!st && !a->started)
        st = ddp_fail(err, DDP_ERR_USAGE, "%s %d was not started",
                      ddp_allreduce_kind(a->count_each > 0), a->number);
    return st;
}

ddp_status ddp_allreduce_fence(ddp_allreduce *a, ddp_error *err)
{
    return ddp_allreduce_fence_before(a, a->device, err);
}

ddp_status ddp_allreduce_fence_before(ddp_allreduce *a, ddp_device *before, ddp_error *err)
{
    ddp_status st = check_started(a, err);

    if (a->engine->in_flight(a)) /* or it has had its fence */
        a->before = before;
    return st ? st : ddp_group_keep_failure(a->group, a->engine->fence(a, err), err);
}

ddp_status ddp_allreduce_wait(ddp_allreduce *a, ddp_error *err)
{
    ddp_status st = check_started(a, err);

    if (a->engine->in_flight(a))
        a->before = a->device;
    return st ? st : ddp_group_keep_failure(a->group, a->engine->wait(a, err), err);
}
