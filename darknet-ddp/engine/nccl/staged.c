/* Sums of a GPU's memory through host memory and the group's own transport (MPI or Gloo), for runs
 * without NCCL:
 *
 *   1. When the values to sum are computed, the GPU copies them to pinned memory.
 *   2. The transport sums the pinned memory.
 *   3. The GPU copies the sum back.
 *
 * When step 1 or 2 has ended, the next call that starts a sum, makes progress or waits begins the
 * next step. A copy ends at any time, but all ranks must start the transport's sums in one order.
 * So these sums, and those of host memory, begin in the order in which the program started them. */
#include "base/clock.h"
#include "comm/chunk.h"
#include "comm/work.h"
#include "nccl/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 1000, NAP_US = 20 };

/* A sum of host memory: the program's own, or the pinned memory of a sum of the GPU's. */
struct item {
    struct ddp_host_sum sum;
    struct staged_sum *staged; /* NULL: the program's own */
    int put_off;               /* in the queue: the transport has not begun it */
    struct item *next;
};

struct staged_sum {
    struct ddp_gpu_sum *s;
    struct item pinned;
    cudaEvent_t copied;
    struct staged_sum *next_summing;
};

struct staged {
    cudaStream_t back;                         /* copies to the GPU; comm has those from it */
    struct item *first, *last;                 /* put off */
    struct staged_sum *summing, *last_summing; /* begun */
};

static struct staged *staged_of(const ddp_group *g)
{
    return g->gpu->transport.state;
}

static void put_last(struct staged *q, struct item *i)
{
    i->put_off = 1;
    i->next = NULL;
    if (q->first)
        q->last->next = i;
    else
        q->first = i;
    q->last = i;
}

/* ---- steps ---- */

static void put_summing(struct staged *q, struct staged_sum *t)
{
    t->next_summing = NULL;
    if (q->summing)
        q->last_summing->next_summing = t;
    else
        q->summing = t;
    q->last_summing = t;
}

/* Hand to the transport what is ready for it, in order. */
static ddp_status start_ready(ddp_group *g, ddp_error *err)
{
    struct staged *q = staged_of(g);

    while (q->first) {
        struct item *i = q->first;

        if (i->staged && !ddp_cuda_passed(g->gpu->cuda, i->staged->copied))
            return DDP_OK;
        q->first = i->next;
        i->put_off = 0;
        if (i->staged)
            put_summing(q, i->staged);
        if (ddp_chunk_pipeline_start(g, &i->sum, err))
            return err->code;
    }
    return DDP_OK;
}

/* Return the range of a sum's memory that goes to the host; of an all-gather this rank's floats. */
static ddp_range own_part(const ddp_work *w)
{
    size_t begin = (size_t)w->group->rank * w->count_each;

    return w->count_each ? (ddp_range){begin, begin + w->count_each} : (ddp_range){0, w->count};
}

static void copy_back(ddp_group *g, struct staged_sum *t)
{
    ddp_cuda *c = g->gpu->cuda;
    const struct ddp_host_sum *from = &t->pinned.sum;

    if (from->not_finite)
        *t->s->not_finite = t->s->number;
    DDP_CUDA(c, cudaMemcpyAsync(t->s->sum->buf, from->buf, t->s->sum->count * sizeof(float),
                                cudaMemcpyHostToDevice, staged_of(g)->back));
    DDP_CUDA(c, cudaEventRecord(t->s->landed, staged_of(g)->back));
    t->s->queued = 1;
}

static ddp_status step(ddp_group *g, ddp_error *err)
{
    struct staged *q = staged_of(g);

    if (start_ready(g, err))
        return err->code;
    while (q->summing && q->summing->pinned.sum.chunks_left == 0) {
        copy_back(g, q->summing);
        q->summing = q->summing->next_summing;
    }
    return DDP_OK;
}

/* A sum that the transport has not begun waits for the GPU, which is no rank's fault. */
static int waits_for_ranks(const struct staged_sum *t)
{
    return !t->pinned.put_off && t->pinned.sum.chunks_left > 0;
}

static ddp_status staged_progress(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err)
{
    int64_t start = ddp_clock_ns();

    if (step(g, err))
        return err->code;
    for (int polls = 0; s && !s->queued; polls++) {
        if (polls > SPINS)
            (void)usleep(NAP_US);
        if (ddp_chunk_pipeline_progress(g, err) || step(g, err)
            || (waits_for_ranks(s->own) && ddp_chunk_pipeline_check_time(g, start, err)))
            return err->code;
    }
    return DDP_OK;
}

/* ---- sums of the GPU's memory ---- */

static void staged_sum_close(struct ddp_gpu_sum *s)
{
    struct staged_sum *t = s->own;
    ddp_cuda *c = s->sum->group->gpu->cuda;

    if (t->pinned.sum.buf) {
        DDP_CUDA(c, cudaEventSynchronize(s->landed)); /* it reads the memory */
        ddp_cuda_free_pinned(c, t->pinned.sum.buf);
    }
    DDP_CUDA(c, cudaEventDestroy(t->copied));
    free(t);
}

static ddp_status staged_sum_open(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_work *w = s->sum;
    ddp_cuda *c = w->group->gpu->cuda;
    struct staged_sum *t = calloc(1, sizeof *t);

    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    t->s = s;
    t->pinned.staged = t;
    t->pinned.sum = ddp_host_sum_of(w);
    t->pinned.sum.ended = NULL; /* not before it is copied back */
    t->pinned.sum.buf = ddp_cuda_alloc_pinned(c, w->count);
    if (!t->pinned.sum.buf) {
        free(t);
        return ddp_fail(err, DDP_ERR_NOMEM, "no %zu MiB of pinned host memory",
                        w->count * sizeof(float) >> 20);
    }
    t->copied = ddp_cuda_event(c);
    s->own = t;
    return DDP_OK;
}

static ddp_status staged_sum_start(struct ddp_gpu_sum *s, ddp_error *err)
{
    struct staged_sum *t = s->own;
    ddp_group *g = s->sum->group;
    ddp_cuda *c = g->gpu->cuda;
    ddp_range part = own_part(s->sum);

    DDP_CUDA(c, cudaMemcpyAsync(t->pinned.sum.buf + part.begin, s->sum->buf + part.begin,
                                (part.end - part.begin) * sizeof(float), cudaMemcpyDeviceToHost,
                                c->comm));
    DDP_CUDA(c, cudaEventRecord(t->copied, c->comm));
    put_last(staged_of(g), &t->pinned);
    return step(g, err);
}

/* ---- the program's own sums of host memory: behind those that are put off, so that every rank has
 * one order ---- */

static ddp_status host_open(ddp_work *w, ddp_error *err)
{
    struct item *i = calloc(1, sizeof *i);

    if (!i)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    i->sum = ddp_host_sum_of(w);
    w->own = i;
    return DDP_OK;
}

static void host_close(ddp_work *w)
{
    free(w->own);
}

static ddp_status host_start(ddp_work *w, ddp_error *err)
{
    struct staged *q = staged_of(w->group);
    struct item *i = w->own;

    ddp_device_event_record(w->began);
    if (!q->first)
        return ddp_chunk_pipeline_start(w->group, &i->sum, err);
    put_last(q, i);
    return DDP_OK;
}

static int host_in_flight(const ddp_work *w)
{
    const struct item *i = w->own;

    return i->put_off || i->sum.chunks_left > 0;
}

static int host_done(const ddp_work *w)
{
    return !host_in_flight(w);
}

static ddp_status host_wait(ddp_work *w, ddp_error *err)
{
    struct item *i = w->own;

    while (i->put_off)
        if (ddp_chunk_pipeline_progress(w->group, err) || step(w->group, err))
            return err->code;
    return ddp_chunk_pipeline_wait(w->group, &i->sum, err);
}

static int host_finite(ddp_work *w)
{
    const struct item *i = w->own;

    return !i->sum.not_finite;
}

static const struct ddp_sum_engine host_sums = {
    .open = host_open,
    .close = host_close,
    .start = host_start,
    .in_flight = host_in_flight,
    .done = host_done,
    .fence_blocks = host_in_flight,
    .fence = host_wait,
    .wait = host_wait,
    .finite = host_finite,
    .share = ddp_chunk_pipeline_share,
};

/* ---- opening ---- */

static void staged_abort(ddp_group *g)
{
    (void)g; /* nothing on the GPU waits for a peer */
}

static void staged_close(ddp_group *g)
{
    struct staged *q = staged_of(g);

    g->host_sums = &ddp_host_engine;
    DDP_CUDA(g->gpu->cuda, cudaStreamDestroy(q->back));
    free(q);
}

static const struct ddp_gpu_transport transport = {
    .close = staged_close,
    .abort = staged_abort,
    .sum_open = staged_sum_open,
    .sum_close = staged_sum_close,
    .sum_start = staged_sum_start,
    .progress = staged_progress,
};

ddp_status ddp_staged_open(ddp_group *g, ddp_error *err)
{
    struct staged *q = calloc(1, sizeof *q);

    if (!q)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums through host memory");
    DDP_CUDA(g->gpu->cuda, cudaStreamCreateWithFlags(&q->back, cudaStreamNonBlocking));
    g->gpu->transport = transport;
    g->gpu->transport.state = q;
    g->host_sums = &host_sums;
    (void)snprintf(g->gpu->transport.name, sizeof transport.name, "%s", g->ops->name);
    return DDP_OK;
}
