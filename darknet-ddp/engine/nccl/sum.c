/* The code that all sums of a GPU's memory share (nccl/sum.h): open, start, fence and wait, and
 * waiting for the GPU by polls. */
#include "nccl/sum.h"

#include "base/clock.h"
#include "comm/chunk_pipeline.h"
#include "comm/work.h"
#include "device/kernels_cuda.h"

#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 1000, NAP_US = 50 };

static struct ddp_gpu_sum *sum_of(const ddp_work *w)
{
    return w->own;
}

/* ---- one sum ---- */

static ddp_status sum_open(ddp_work *w, ddp_error *err)
{
    struct ddp_gpu *gpu = w->group->gpu;
    struct ddp_gpu_sum *s = calloc(1, sizeof *s);

    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    s->sum = w;
    w->own = s;
    s->not_finite = (unsigned *)ddp_cuda_alloc_pinned(gpu->cuda, 1);
    if (!s->not_finite)
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no pinned host memory");
    else
        *s->not_finite = 0;
    if (!s->not_finite || (w->group->size > 1 && gpu->transport.sum_open(s, err))) {
        w->own = NULL;
        ddp_cuda_free_pinned(gpu->cuda, (float *)s->not_finite);
        free(s);
        return err->code;
    }
    s->ready = ddp_cuda_event_of(w->began);
    s->landed = ddp_cuda_event_of(w->ended);
    s->reached = ddp_cuda_timed_event(gpu->cuda);
    return DDP_OK;
}

static void forget(struct ddp_gpu *gpu, const struct ddp_gpu_sum *s)
{
    struct ddp_gpu_sum **at = &gpu->first_unsettled;
    struct ddp_gpu_sum *before = NULL;

    while (*at && *at != s) {
        before = *at;
        at = &before->next_unsettled;
    }
    if (!*at)
        return;
    *at = s->next_unsettled;
    if (gpu->last_unsettled == s)
        gpu->last_unsettled = before;
}

static void sum_close(ddp_work *w)
{
    struct ddp_gpu *gpu = w->group->gpu;
    struct ddp_gpu_sum *s = sum_of(w);

    forget(gpu, s);
    if (gpu->transport.sum_close)
        gpu->transport.sum_close(s);
    DDP_CUDA(gpu->cuda, cudaEventDestroy(s->reached));
    ddp_cuda_free_pinned(gpu->cuda, (float *)s->not_finite); /* waits for what writes it */
    free(s);
}

static ddp_status sum_start(ddp_work *w, ddp_error *err)
{
    struct ddp_gpu *gpu = w->group->gpu;
    struct ddp_gpu_sum *s = sum_of(w);

    s->number++;
    s->is_told = 0;
    if (w->group->size == 1) {
        ddp_gpu_check_finite(s, (ddp_range){0, w->count}, ddp_cuda_stream(w->behind));
        return DDP_OK;
    }
    if (s->unsettled && ddp_gpu_synchronize(w->group, err))
        return err->code;
    s->queued = 0;
    s->in_flight = 1;
    ddp_cuda_order(gpu->cuda, ddp_cuda_stream(w->behind), s->ready, gpu->cuda->comm);
    return gpu->transport.sum_start(s, err);
}

void ddp_gpu_check_finite(struct ddp_gpu_sum *s, ddp_range range, cudaStream_t stream)
{
    DDP_CUDA(s->sum->group->gpu->cuda,
             ddp_cuda_check_finite(stream, s->sum->buf + range.begin, range.end - range.begin,
                                   s->not_finite, s->number));
}

static int sum_finite(ddp_work *w)
{
    struct ddp_gpu_sum *s = sum_of(w);
    unsigned number = *(volatile unsigned *)s->not_finite;

    if (!s->unsettled && number != s->told) {
        s->told = number;
        s->is_told = 1;
    }
    return !s->is_told;
}

static int sum_in_flight(const ddp_work *w)
{
    return sum_of(w)->in_flight;
}

static int sum_done(const ddp_work *w)
{
    const struct ddp_gpu_sum *s = sum_of(w);

    if (!s->in_flight && !s->unsettled)
        return 1;
    return s->queued && ddp_cuda_passed(w->group->gpu->cuda, s->landed);
}

static int sum_fence_blocks(const ddp_work *w)
{
    const struct ddp_gpu_sum *s = sum_of(w);

    return s->in_flight && !s->queued;
}

static ddp_status sum_fence(ddp_work *w, ddp_error *err)
{
    struct ddp_gpu *gpu = w->group->gpu;
    struct ddp_gpu_sum *s = sum_of(w);
    cudaStream_t later = ddp_cuda_stream(w->before);

    if (!s->in_flight)
        return DDP_OK;
    DDP_CUDA(gpu->cuda, cudaEventRecord(s->reached, later));
    if (!s->queued && gpu->transport.progress(w->group, s, err))
        return err->code;
    s->in_flight = 0;
    DDP_CUDA(gpu->cuda, cudaStreamWaitEvent(later, s->landed, 0));
    s->unsettled = 1;
    s->next_unsettled = NULL;
    if (gpu->first_unsettled)
        gpu->last_unsettled->next_unsettled = s;
    else
        gpu->first_unsettled = s;
    gpu->last_unsettled = s;
    return DDP_OK;
}

static ddp_status sum_wait(ddp_work *w, ddp_error *err)
{
    return sum_fence(w, err) ? err->code : ddp_gpu_synchronize(w->group, err);
}

static ddp_status sum_share(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err)
{
    const struct ddp_gpu_transport *transport = &w->group->gpu->transport;

    return transport->share ? transport->share(w, ranges, count, err)
                            : ddp_chunk_pipeline_share(w, ranges, count, err);
}

const struct ddp_sum_engine ddp_gpu_engine = {
    .open = sum_open,
    .close = sum_close,
    .start = sum_start,
    .in_flight = sum_in_flight,
    .done = sum_done,
    .fence_blocks = sum_fence_blocks,
    .fence = sum_fence,
    .wait = sum_wait,
    .finite = sum_finite,
    .share = sum_share,
};

ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err)
{
    return g->gpu->transport.progress ? g->gpu->transport.progress(g, NULL, err) : DDP_OK;
}

/* ---- waiting for the GPU ---- */

/* How long the compute stream stood at the wait, where that was the one. It comes to a wait on its
 * own time, so both events have passed only once the GPU is there; until then nothing has stood
 * still. */
static void count_stall(struct ddp_gpu *gpu, const struct ddp_gpu_sum *s)
{
    float ms = 0;

    if (ddp_cuda_stream(s->sum->before) != gpu->cuda->compute
        || !ddp_cuda_passed(gpu->cuda, s->reached))
        return;
    DDP_CUDA(gpu->cuda, cudaEventElapsedTime(&ms, s->reached, s->landed));
    if (ms > 0)
        gpu->stalled_ns += (int64_t)((double)ms * 1e6);
}

static ddp_status overdue(const ddp_group *g, const struct ddp_gpu_sum *s, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_COMM, "%s %d of %d has not arrived on GPU %d (host %s) for %.9g s",
                    ddp_work_kind(s->sum->count_each > 0), s->sum->number, g->last_number,
                    g->gpu->cuda->gpu, g->hosts[g->rank], (double)g->timeout_ns / 1e9);
}

static ddp_status wait_to_land(ddp_group *g, const struct ddp_gpu_sum *s, ddp_error *err)
{
    int64_t start = ddp_clock_ns(), looked = start;
    int idle_polls = 0;

    while (!ddp_cuda_passed(g->gpu->cuda, s->landed)) {
        if (ddp_chunk_pipeline_poll_transport(g, err) || ddp_gpu_progress(g, err))
            return err->code;
        if (idle_polls++ > SPINS)
            (void)usleep(NAP_US);
        start += ddp_clock_stopped_ns(&looked);
        if (g->timeout_ns > 0 && looked - start > g->timeout_ns)
            return overdue(g, s, err);
    }
    return DDP_OK;
}

ddp_status ddp_gpu_synchronize(ddp_group *g, ddp_error *err)
{
    struct ddp_gpu *gpu = g->gpu;

    while (gpu->first_unsettled) {
        struct ddp_gpu_sum *s = gpu->first_unsettled;

        if (wait_to_land(g, s, err))
            return err->code;
        count_stall(gpu, s);
        s->unsettled = 0;
        gpu->first_unsettled = s->next_unsettled;
    }
    gpu->last_unsettled = NULL;
    return DDP_OK;
}
