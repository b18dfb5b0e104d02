/* Sums of a GPU's memory through host memory and the group's own transport, where there is no
 * NCCL:
 *
 *   COPYING   the GPU copies it to pinned memory, behind what computes it
 *   SUMMING   the transport sums the pinned memory
 *   (queued)  the GPU copies it back
 *
 * Each step begins in a progress after the one before it has ended. When a copy ends is a
 * matter of chance, so the transport's sums, those of host memory too, are started from one
 * queue, in the order in which the program started them. */
#include "base/clock.h"
#include "comm/gpu_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SPINS = 1000, NAP_NS = 20000 };

struct staged_sum {
    struct ddp_gpu_sum *s;
    ddp_allreduce inner; /* of the pinned memory */
    cudaEvent_t copied;
    struct staged_sum *next_summing;
};

struct staged {
    cudaStream_t back;                         /* copies to the GPU; traffic has those from it */
    ddp_allreduce *first, *last;               /* not begun by the transport */
    struct staged_sum *summing, *last_summing; /* begun */
};

static struct staged *staged_of(const ddp_group *g)
{
    return g->gpu->engine.state;
}

/* NULL: a sum of host memory. */
static struct staged_sum *copying(const ddp_allreduce *a)
{
    return a->on_gpu ? ((struct ddp_gpu_sum *)a->native)->own : NULL;
}

static void put_last(struct staged *q, ddp_allreduce *a)
{
    a->put_off = 1;
    a->next_put_off = NULL;
    if (q->first)
        q->last->next_put_off = a;
    else
        q->first = a;
    q->last = a;
}

static int staged_put_off(ddp_allreduce *a)
{
    struct staged *q = staged_of(a->group);

    if (!q->first)
        return 0;
    put_last(q, a);
    return 1;
}

/* ---- steps ---- */

static ddp_status start_inner(struct staged *q, struct staged_sum *t, ddp_error *err)
{
    ddp_group *g = t->inner.group;

    t->inner.number = t->s->sum->number;
    t->inner.started = 1;
    t->next_summing = NULL;
    if (q->summing)
        q->last_summing->next_summing = t;
    else
        q->summing = t;
    q->last_summing = t;
    return g->ops->allreduce_start(&t->inner, err);
}

/* Hand to the transport what is ready for it, in order. */
static ddp_status start_ready(ddp_group *g, ddp_error *err)
{
    struct staged *q = staged_of(g);

    while (q->first) {
        ddp_allreduce *a = q->first;
        struct staged_sum *t = copying(a);

        if (t && !ddp_cuda_passed(g->gpu->cuda, t->copied))
            return DDP_OK;
        q->first = a->next_put_off;
        a->put_off = 0;
        if (t ? start_inner(q, t, err) : g->ops->allreduce_start(a, err))
            return err->code;
    }
    return DDP_OK;
}

static void copy_back(struct staged *q, struct staged_sum *t)
{
    ddp_cuda *c = t->inner.group->gpu->cuda;

    DDP_CUDA(c, cudaMemcpyAsync(t->s->sum->buf, t->inner.buf, t->inner.count * sizeof(float),
                                cudaMemcpyHostToDevice, q->back));
    DDP_CUDA(c, cudaEventRecord(t->s->landed, q->back));
    t->s->queued = 1;
}

static ddp_status step(ddp_group *g, ddp_error *err)
{
    struct staged *q = staged_of(g);

    if (start_ready(g, err))
        return err->code;
    while (q->summing && q->summing->inner.chunks_left == 0) {
        copy_back(q, q->summing);
        q->summing = q->summing->next_summing;
    }
    return DDP_OK;
}

/* Has the transport been waiting for too long? Its own wait then says for whom. */
static ddp_status check_time(ddp_group *g, struct staged_sum *t, int64_t since, ddp_error *err)
{
    int64_t timeout = g->timeout_ns;
    ddp_status st;

    if (timeout == 0 || t->s->sum->put_off || ddp_clock_ns() - since <= timeout)
        return DDP_OK;
    g->timeout_ns = 1;
    st = g->ops->allreduce_wait(&t->inner, err);
    g->timeout_ns = timeout;
    return st;
}

static void nap(int polls)
{
    struct timespec pause = {0, NAP_NS};

    if (polls > SPINS)
        (void)nanosleep(&pause, NULL);
}

static ddp_status staged_progress(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err)
{
    int64_t start = ddp_clock_ns();

    if (step(g, err))
        return err->code;
    for (int polls = 0; s && !s->queued; polls++) {
        nap(polls);
        if (g->ops->progress(g, err) || step(g, err) || check_time(g, s->own, start, err))
            return err->code;
    }
    return DDP_OK;
}

/* ---- sums ---- */

static void staged_sum_close(struct ddp_gpu_sum *s)
{
    struct staged_sum *t = s->own;
    ddp_group *g = t->inner.group;

    g->ops->allreduce_close(&t->inner);
    ddp_mark_close(t->inner.ended);
    if (t->inner.buf) {
        DDP_CUDA(g->gpu->cuda, cudaEventSynchronize(s->landed)); /* it reads the memory */
        ddp_cuda_free_pinned(g->gpu->cuda, t->inner.buf);
    }
    DDP_CUDA(g->gpu->cuda, cudaEventDestroy(t->copied));
    free(t);
}

static ddp_status staged_sum_open(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_allreduce *a = s->sum;
    ddp_cuda *c = a->group->gpu->cuda;
    struct staged_sum *t = calloc(1, sizeof *t);

    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    t->s = s;
    t->inner = (ddp_allreduce){.group = a->group, .count = a->count};
    t->inner.buf = ddp_cuda_alloc_pinned(c, a->count);
    if (!t->inner.buf)
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no %zu MiB of pinned host memory",
                       a->count * sizeof(float) >> 20);
    if (!t->inner.buf || ddp_mark_open(&t->inner.ended, ddp_device_host(), err)
        || a->group->ops->allreduce_open(&t->inner, err)) {
        ddp_mark_close(t->inner.ended);
        ddp_cuda_free_pinned(c, t->inner.buf);
        free(t);
        return err->code;
    }
    t->copied = ddp_cuda_event(c);
    s->own = t;
    return DDP_OK;
}

static ddp_status staged_sum_start(struct ddp_gpu_sum *s, ddp_error *err)
{
    struct staged_sum *t = s->own;
    ddp_group *g = t->inner.group;
    ddp_cuda *c = g->gpu->cuda;

    DDP_CUDA(c, cudaMemcpyAsync(t->inner.buf, s->sum->buf, t->inner.count * sizeof(float),
                                cudaMemcpyDeviceToHost, c->traffic));
    DDP_CUDA(c, cudaEventRecord(t->copied, c->traffic));
    put_last(staged_of(g), s->sum);
    return step(g, err);
}

/* ---- opening ---- */

static void staged_abort(ddp_group *g)
{
    (void)g; /* nothing on the GPU waits for a peer */
}

static void staged_close(ddp_group *g)
{
    struct staged *q = staged_of(g);

    DDP_CUDA(g->gpu->cuda, cudaStreamDestroy(q->back));
    free(q);
}

static const struct ddp_gpu_engine engine = {
    .close = staged_close,
    .abort = staged_abort,
    .sum_open = staged_sum_open,
    .sum_close = staged_sum_close,
    .sum_start = staged_sum_start,
    .progress = staged_progress,
    .put_off = staged_put_off,
};

ddp_status ddp_staged_open(ddp_group *g, ddp_error *err)
{
    struct staged *q = calloc(1, sizeof *q);

    if (!q)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums through host memory");
    DDP_CUDA(g->gpu->cuda, cudaStreamCreateWithFlags(&q->back, cudaStreamNonBlocking));
    g->gpu->engine = engine;
    g->gpu->engine.state = q;
    (void)snprintf(g->gpu->engine.name, sizeof engine.name, "%s", g->ops->name);
    return DDP_OK;
}
