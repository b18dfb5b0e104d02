/* The way of a sum of host memory over ranks, from its start to its end:
 *
 * start: queue the sum behind those that were started before, and launch_chunks.
 *
 * launch_chunks: cut queued sums into chunks, while the next slot of the window (the chunks in
 * flight) is free, and launch them (ddp_allreduce_algorithm.launch: comm/direct.c or
 * comm/hierarchical.c).
 *
 * poll: one round. It calls launch_chunks, asks the transport which messages have ended, and tells
 * their chunks (ddp_allreduce_algorithm.advance). A chunk adds what has come, and posts its next
 * messages. Chunks that wait for shared memory are looked at (look). A summed chunk frees its slot.
 *
 * wait: poll until no chunk of the sum is left.
 *
 * Every wait polls, and so does ddp_group_progress while the program computes.
 * chunk_pipeline_open.c has the memory, chunk_overdue.c the ranks that are late. */
#include "comm/chunk_pipeline.h"

#include "base/clock.h"
#include "base/is_finite.h"
#include "comm/chunk_pipeline_state.h"

#include <stdlib.h>

/* ---- a sum becomes chunks ---- */

/* The slot of the next chunk is free: those before it may still be in flight. */
static struct ddp_chunk *next_chunk(ddp_group *g)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    int slot = (int)(p->next_sequence % (uint32_t)p->sizes.window);
    struct ddp_chunk *c = g->algorithm->chunk(g, slot);

    if (c->sum)
        return NULL;
    *c = (struct ddp_chunk){.sum = p->first,
                            .sequence = p->next_sequence++,
                            .slot = slot,
                            .first_request = ddp_collective_requests(g) + slot * p->sizes.requests};
    return c;
}

/* The length of a chunk that is not the last: all ranks' floats together are as long as a sum's. */
static size_t chunk_count(const ddp_group *g, const struct ddp_host_sum *s)
{
    size_t count = g->pipeline->sizes.count, each = count / (size_t)g->size;

    if (!s->gathers)
        return count;
    return each > 0 ? each : 1;
}

static ddp_status name_sum(const ddp_group *g, const struct ddp_host_sum *s, ddp_error *err)
{
    return ddp_wrap(err, "%s %d of %d", ddp_work_kind(s->gathers), s->work->number, g->last_number);
}

static ddp_status launch_chunks(ddp_group *g, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = g->pipeline;

    while (p->first) {
        struct ddp_host_sum *s = p->first;
        struct ddp_chunk *c = next_chunk(g);
        size_t left = s->count - s->launched, most = chunk_count(g, s);

        if (!c)
            return DDP_OK;
        c->data = s->buf + s->launched;
        c->count = left < most ? left : most;
        p->chunks_in_flight++;
        s->launched += c->count;
        if (s->launched == s->count)
            p->first = s->next;
        if (g->algorithm->launch(g, c, err))
            return name_sum(g, s, err);
    }
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_start(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    size_t most;

    s->not_finite = g->size == 1 && !ddp_all_finite(s->buf, s->count);
    if (g->size == 1)
        return DDP_OK;
    if (!g->algorithm && ddp_chunk_pipeline_use(g, &ddp_allreduce_direct, err))
        return err->code;
    most = chunk_count(g, s);
    s->phase = s->gathers ? DDP_ALL_GATHER : s->work->phase;
    s->wire = s->phase == DDP_ALL_GATHER ? DDP_WIRE_FP32 : s->work->wire;
    s->chunks_left = (int)((s->count + most - 1) / most);
    s->launched = 0;
    s->channel = g->next_channel;
    g->next_channel = (g->next_channel + 1) % g->channels;
    s->next = NULL;
    if (p->first)
        p->last->next = s;
    else
        p->first = s;
    p->last = s;
    return launch_chunks(g, err);
}

/* ---- messages end ---- */

static void retire(struct ddp_chunk_pipeline *p, struct ddp_chunk *c)
{
    if (!c->ended)
        return;
    if (--c->sum->chunks_left == 0 && c->sum->ended)
        ddp_device_event_record(c->sum->ended);
    c->sum = NULL;
    p->chunks_in_flight--;
}

static void collective_request_ended(struct ddp_chunk_pipeline *p, int request)
{
    p->collective_requests[request].pending = 0;
    p->collective_left--;
}

static ddp_status chunk_request_ended(ddp_group *g, int request, ddp_error *err)
{
    int i = request - ddp_collective_requests(g), requests = g->pipeline->sizes.requests;
    struct ddp_chunk *c = g->algorithm->chunk(g, i / requests);

    ddp_part_ended(g->pipeline, request);
    if (g->algorithm->advance(g, c, i % requests, err))
        return name_sum(g, c->sum, err);
    retire(g->pipeline, c);
    return DDP_OK;
}

/* Look at the chunks that may go on without requests. */
static ddp_status look_at_chunks(ddp_group *g, int *moved, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = g->pipeline;

    if (!p->chunks_in_flight || !g->algorithm->look)
        return DDP_OK;
    for (int i = 0; i < p->sizes.window; i++) {
        struct ddp_chunk *c = ddp_chunk_in_flight(g, i);

        if (!c)
            continue;
        if (g->algorithm->look(g, c, moved, err))
            return name_sum(g, c->sum, err);
        retire(p, c);
    }
    return DDP_OK;
}

static void note_messages(ddp_group *g)
{
    g->pipeline->last_message_ns = ddp_clock_ns();
    if (g->moved)
        g->moved(g->moved_ctx);
}

/* One round of moving data. *moved is 0 where nothing has ended or gone on. */
static ddp_status poll(ddp_group *g, int *moved, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    int ended;

    if (launch_chunks(g, err) || g->transport->test(g, p->ended, &ended, err))
        return err->code;
    for (int i = 0; i < ended; i++) {
        int request = p->ended[i];

        if (request < ddp_collective_requests(g))
            collective_request_ended(p, request);
        else if (chunk_request_ended(g, request, err))
            return err->code;
    }
    *moved = ended;
    if (look_at_chunks(g, moved, err))
        return err->code;
    if (*moved)
        note_messages(g);
    return DDP_OK;
}

/* Is no sum in flight, nor waiting to be? */
static int is_idle(const ddp_group *g)
{
    const struct ddp_chunk_pipeline *p = g->pipeline;

    return !p || (!p->chunks_in_flight && !p->first);
}

ddp_status ddp_chunk_pipeline_poll_transport(ddp_group *g, ddp_error *err)
{
    int moved;

    ddp_backoff_begin(&g->pipeline->backoff);
    /* A transport may move much data before a message ends, and finds more to do
     * right after one has: go on until there is nothing. */
    do {
        if (poll(g, &moved, err))
            return err->code;
        ddp_backoff_polled(&g->pipeline->backoff);
    } while (moved && !is_idle(g));
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_progress(ddp_group *g, ddp_error *err)
{
    return is_idle(g) ? DDP_OK : ddp_chunk_pipeline_poll_transport(g, err);
}

/* ---- waiting ---- */

int64_t ddp_group_descheduled_ns(const ddp_group *g)
{
    return g->pipeline ? g->pipeline->backoff.descheduled_ns : 0;
}

ddp_status ddp_chunk_pipeline_wait_until(ddp_group *g, const int *left,
                                         ddp_status (*overdue)(ddp_group *g, ddp_error *err),
                                         ddp_error *err)
{
    struct ddp_backoff *backoff;
    int64_t start = ddp_clock_ns();

    if (!*left) /* after a failure the group may be closed already */
        return DDP_OK;
    backoff = &g->pipeline->backoff;
    ddp_backoff_begin(backoff);
    while (*left) {
        int moved;

        if (poll(g, &moved, err))
            return err->code;
        ddp_backoff_polled(backoff);
        if (moved) {
            ddp_backoff_found(backoff);
            continue;
        }
        ddp_backoff_pause(backoff);
        if (ddp_chunk_pipeline_is_late(g, start))
            return overdue(g, err);
    }
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_wait(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    return ddp_chunk_pipeline_wait_until(g, &s->chunks_left, ddp_fail_late_chunks, err);
}

/* ---- what work.c calls: a sum, or an all-gather, of host memory ---- */

static ddp_status host_open(ddp_work *w, ddp_error *err)
{
    struct ddp_host_sum *s = calloc(1, sizeof *s);

    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    *s = ddp_host_sum_of(w);
    w->own = s;
    return DDP_OK;
}

static void host_close(ddp_work *w)
{
    free(w->own);
}

static ddp_status host_start(ddp_work *w, ddp_error *err)
{
    ddp_device_event_record(w->began);
    return ddp_chunk_pipeline_start(w->group, w->own, err);
}

static int host_in_flight(const ddp_work *w)
{
    const struct ddp_host_sum *s = w->own;

    return s->chunks_left > 0;
}

static int host_done(const ddp_work *w)
{
    return !host_in_flight(w);
}

static ddp_status host_wait(ddp_work *w, ddp_error *err)
{
    return ddp_chunk_pipeline_wait(w->group, w->own, err);
}

static int host_finite(ddp_work *w)
{
    const struct ddp_host_sum *s = w->own;

    return !s->not_finite;
}

const struct ddp_sum_engine ddp_host_engine = {
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
