#include "comm/host_engine.h"

#include "comm/allreduce.h"
#include "comm/chunk.h"

#include <stdlib.h>

static ddp_status sum_open(ddp_allreduce *a, ddp_error *err)
{
    struct ddp_host_sum *s = calloc(1, sizeof *s);

    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    *s = ddp_host_sum_of(a);
    a->own = s;
    return DDP_OK;
}

static void sum_close(ddp_allreduce *a)
{
    free(a->own);
}

static ddp_status sum_start(ddp_allreduce *a, ddp_error *err)
{
    struct ddp_host_sum *s = a->own;

    ddp_device_event_record(a->began);
    ddp_host_sum_set_phase(s, a);
    return ddp_chunk_pipeline_start(a->group, s, err);
}

static int sum_in_flight(const ddp_allreduce *a)
{
    const struct ddp_host_sum *s = a->own;

    return s->chunks_left > 0;
}

static int sum_done(const ddp_allreduce *a)
{
    return !sum_in_flight(a);
}

static ddp_status sum_wait(ddp_allreduce *a, ddp_error *err)
{
    return ddp_chunk_pipeline_wait(a->group, a->own, err);
}

static int sum_finite(ddp_allreduce *a)
{
    const struct ddp_host_sum *s = a->own;

    return !s->not_finite;
}

const struct ddp_sum_engine ddp_host_engine = {
    .open = sum_open,
    .close = sum_close,
    .start = sum_start,
    .in_flight = sum_in_flight,
    .done = sum_done,
    .fence_waits = sum_in_flight,
    .fence = sum_wait,
    .wait = sum_wait,
    .finite = sum_finite,
};

ddp_status ddp_host_engine_open(ddp_group *g, ddp_error *err)
{
    g->host_sums = &ddp_host_engine;
    return ddp_chunk_pipeline_open(g, &ddp_allreduce_direct, err);
}
