/* Opens sums and all-gathers, checks that a call is allowed now, and passes it to the engine
 * (comm/backend.h). Most groups sum host memory by ddp_host_engine, at the end of
 * comm/chunk_pipeline.c. */
#include "comm/work.h"

#include "comm/backend.h"
#include "comm/chunk_pipeline.h"

#include <stdlib.h>

static ddp_status open_events(ddp_work *w, ddp_device *d, ddp_error *err)
{
    ddp_status st = ddp_device_event_open(&w->began, d, err);

    return st ? st : ddp_device_event_open(&w->ended, d, err);
}

static void free_sum(ddp_work *w)
{
    ddp_device_event_close(w->began);
    ddp_device_event_close(w->ended);
    free(w);
}

static ddp_status name_what(const ddp_work *wanted, ddp_error *err)
{
    return wanted->count_each
               ? ddp_wrap(err, "prepare an all-gather of %zu floats a rank", wanted->count_each)
               : ddp_wrap(err, "prepare a sum of %zu floats", wanted->count);
}

/* Open a sum or all-gather. *wanted names it: group, device, buf, count, count_each and wire are
 * set.
 */
static ddp_status open_work(ddp_work **out, const ddp_work *wanted, ddp_error *err)
{
    ddp_group *g = wanted->group;
    ddp_work *w;
    ddp_status st;

    *out = NULL;
    st = ddp_group_check_alive(g, err);
    if (st)
        return st;
    w = malloc(sizeof *w);
    if (!w)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    *w = *wanted;
    w->number = g->open_count > 0 ? g->last_number + 1 : 1;
    w->engine = ddp_device_is_host(w->device) ? g->host_sums : g->gpu_ops->sums;
    st = open_events(w, w->device, err);
    if (!st)
        st = w->engine->open(w, err);
    if (st) {
        free_sum(w);
        return ddp_group_keep_failure(g, name_what(wanted, err), err);
    }
    g->last_number = w->number;
    g->open_count++;
    *out = w;
    return DDP_OK;
}

ddp_status ddp_allreduce_open_on(ddp_work **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err)
{
    const ddp_work wanted = {.group = g, .device = d, .buf = buf, .count = count, .wire = wire};

    return open_work(out, &wanted, err);
}

ddp_status ddp_allreduce_open(ddp_work **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err)
{
    return ddp_allreduce_open_on(out, g, ddp_device_host(), buf, count, DDP_WIRE_FP32, err);
}

ddp_status ddp_allgather_open(ddp_work **out, ddp_group *g, ddp_device *d, float *all, size_t count,
                              ddp_error *err)
{
    const ddp_work wanted = {.group = g,
                             .device = d,
                             .buf = all,
                             .count = count * (size_t)g->size,
                             .count_each = count,
                             .wire = DDP_WIRE_FP32};

    return open_work(out, &wanted, err);
}

void ddp_work_close(ddp_work *w)
{
    if (!w)
        return;
    ddp_group_abort_queued(w->group);
    w->engine->close(w);
    w->group->open_count--;
    free_sum(w);
}

static ddp_status start(ddp_work *w, ddp_work_phase phase, ddp_device *behind, ddp_error *err)
{
    ddp_group *g = w->group;
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (w->engine->in_flight(w))
        return ddp_fail(err, DDP_ERR_USAGE, "%s %d is in flight already",
                        ddp_work_kind(w->count_each > 0), w->number);
    if (w->count_each && phase != DDP_ALLREDUCE)
        return ddp_fail(err, DDP_ERR_USAGE, "all-gather %d has no halves", w->number);
    w->started = 1;
    w->phase = phase;
    w->behind = behind;
    if (w->count == 0)
        return DDP_OK;
    return ddp_group_keep_failure(g, w->engine->start(w, err), err);
}

ddp_status ddp_work_start(ddp_work *w, ddp_error *err)
{
    return start(w, DDP_ALLREDUCE, w->device, err);
}

ddp_status ddp_work_start_behind(ddp_work *w, ddp_device *behind, ddp_error *err)
{
    return start(w, DDP_ALLREDUCE, behind, err);
}

ddp_status ddp_work_start_phase(ddp_work *w, ddp_work_phase phase, ddp_error *err)
{
    return start(w, phase, w->device, err);
}

static ddp_status check_started(const ddp_work *w, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(w->group, err);

    if (!st && !w->started)
        st = ddp_fail(err, DDP_ERR_USAGE, "%s %d was not started", ddp_work_kind(w->count_each > 0),
                      w->number);
    return st;
}

ddp_status ddp_work_fence(ddp_work *w, ddp_error *err)
{
    return ddp_work_fence_before(w, w->device, err);
}

ddp_status ddp_work_fence_before(ddp_work *w, ddp_device *before, ddp_error *err)
{
    ddp_status st = check_started(w, err);

    if (w->engine->in_flight(w)) /* or it has had its fence */
        w->before = before;
    return st ? st : ddp_group_keep_failure(w->group, w->engine->fence(w, err), err);
}

ddp_status ddp_work_wait(ddp_work *w, ddp_error *err)
{
    ddp_status st = check_started(w, err);

    if (w->engine->in_flight(w))
        w->before = w->device;
    return st ? st : ddp_group_keep_failure(w->group, w->engine->wait(w, err), err);
}

ddp_status ddp_group_progress(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (!st)
        st = ddp_group_keep_failure(g, ddp_chunk_pipeline_progress(g, err), err);
    if (!st && g->gpu)
        st = ddp_group_keep_failure(g, g->gpu_ops->progress(g, err), err);
    return st;
}

int ddp_work_done(const ddp_work *w)
{
    return w->started && w->engine->done(w);
}

int ddp_work_fence_blocks(const ddp_work *w)
{
    return w->engine->fence_blocks(w);
}

ddp_status ddp_work_share(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err)
{
    return w->engine->share(w, ranges, count, err);
}

int ddp_work_finite(ddp_work *w)
{
    return w->engine->finite(w);
}

const ddp_device_event *ddp_work_began(const ddp_work *w)
{
    return w->began;
}

const ddp_device_event *ddp_work_ended(const ddp_work *w)
{
    return w->ended;
}
