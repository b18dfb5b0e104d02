/* The way of a sum of host memory, from its start to its end, in the order of this file:
 *
 *   start   puts the sum behind those that are started, in the queue of what is to be cut
 *   launch  cuts the queue into chunks, as long as one of the window's slots is free, and has each
 *           post its first messages (ddp_allreduce_algorithm.launch: comm/direct.c, or
 *           comm/hierarchical.c)
 *   poll    one round: launch, ask the transport which messages have ended, tell their chunks
 *           (advance), which post the next ones; a chunk that is summed leaves its slot free
 *   wait    polls until no chunk of the sum is left, and tells who is late
 *
 * Polls come from whoever calls the group: ddp_group_progress while the program computes, and every
 * wait. */
#include "comm/chunk_pipeline.h"

#include "base/clock.h"
#include "base/is_finite.h"
#include "comm/chunk_pipeline_state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a sum becomes chunks ---- */

/* The slot of the next chunk is free: those before it may still be in flight. */
static struct ddp_chunk *next_chunk(ddp_group *g)
{
    struct ddp_chunk_pipeline *x = g->exchange;
    int slot = (int)(x->next_sequence % (uint32_t)x->sizes.window);
    struct ddp_chunk *c = g->algorithm->chunk(g, slot);

    if (c->sum)
        return NULL;
    *c = (struct ddp_chunk){.sum = x->first,
                            .sequence = x->next_sequence++,
                            .slot = slot,
                            .first_request = ddp_collective_requests(g) + slot * x->sizes.requests};
    return c;
}

/* Of a chunk that is not the last: together the parts of all ranks are as long as a sum's. */
static size_t chunk_count(const ddp_group *g, const struct ddp_host_sum *s)
{
    size_t count = g->exchange->sizes.count, each = count / (size_t)g->size;

    if (!s->gathers)
        return count;
    return each > 0 ? each : 1;
}

static ddp_status name_sum(const ddp_group *g, const struct ddp_host_sum *s, ddp_error *err)
{
    return ddp_wrap(err, "%s %d of %d", ddp_allreduce_kind(s->gathers), s->number, g->sums_opened);
}

static ddp_status launch(ddp_group *g, ddp_error *err)
{
    struct ddp_chunk_pipeline *x = g->exchange;

    while (x->first) {
        struct ddp_host_sum *a = x->first;
        struct ddp_chunk *c = next_chunk(g);
        size_t left = a->count - a->launched, most = chunk_count(g, a);

        if (!c)
            return DDP_OK;
        c->data = a->buf + a->launched;
        c->count = left < most ? left : most;
        x->chunks_in_flight++;
        a->launched += c->count;
        if (a->launched == a->count)
            x->first = a->next;
        if (g->algorithm->launch(g, c, err))
            return name_sum(g, a, err);
    }
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_start(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    struct ddp_chunk_pipeline *x = g->exchange;
    size_t most;

    s->not_finite = g->size == 1 && !ddp_all_finite(s->buf, s->count);
    if (g->size == 1)
        return DDP_OK;
    if (!g->algorithm && ddp_chunk_pipeline_use(g, g->first_algorithm, err))
        return err->code;
    most = chunk_count(g, s);
    s->chunks_left = (int)((s->count + most - 1) / most);
    s->launched = 0;
    s->channel = (int)(g->sums_started++ % (unsigned)g->channels);
    s->next = NULL;
    if (x->first)
        x->last->next = s;
    else
        x->first = s;
    x->last = s;
    return launch(g, err);
}

/* ---- messages end ---- */

static void retire(struct ddp_chunk_pipeline *x, struct ddp_chunk *c)
{
    if (!c->ended)
        return;
    if (--c->sum->chunks_left == 0 && c->sum->ended)
        ddp_device_event_record(c->sum->ended);
    c->sum = NULL;
    x->chunks_in_flight--;
}

static void collective_request_ended(struct ddp_chunk_pipeline *x, int request)
{
    x->collective_requests[request].pending = 0;
    x->collective_left--;
}

static ddp_status chunk_request_ended(ddp_group *g, int request, ddp_error *err)
{
    int i = request - ddp_collective_requests(g), requests = g->exchange->sizes.requests;
    struct ddp_chunk *c = g->algorithm->chunk(g, i / requests);

    ddp_part_ended(g->exchange, request);
    if (g->algorithm->advance(g, c, i % requests, err))
        return name_sum(g, c->sum, err);
    retire(g->exchange, c);
    return DDP_OK;
}

/* The chunk in the i-th slot, the oldest first; NULL: the slot is free. */
static struct ddp_chunk *in_flight(ddp_group *g, int i)
{
    const struct ddp_chunk_pipeline *x = g->exchange;
    uint32_t sequence = x->next_sequence + (uint32_t)i;
    struct ddp_chunk *c = g->algorithm->chunk(g, (int)(sequence % (uint32_t)x->sizes.window));

    return c->sum ? c : NULL;
}

/* Of what goes on without requests. */
static ddp_status look_at_chunks(ddp_group *g, int *moved, ddp_error *err)
{
    struct ddp_chunk_pipeline *x = g->exchange;

    if (!x->chunks_in_flight || !g->algorithm->look)
        return DDP_OK;
    for (int i = 0; i < x->sizes.window; i++) {
        struct ddp_chunk *c = in_flight(g, i);

        if (!c)
            continue;
        if (g->algorithm->look(g, c, moved, err))
            return name_sum(g, c->sum, err);
        retire(x, c);
    }
    return DDP_OK;
}

static void note_messages(ddp_group *g)
{
    g->exchange->last_message_ns = ddp_clock_ns();
    if (g->moved)
        g->moved(g->moved_ctx);
}

/* One round of moving data. *moved is 0 where nothing has ended or gone on. */
static ddp_status poll(ddp_group *g, int *moved, ddp_error *err)
{
    struct ddp_chunk_pipeline *x = g->exchange;
    int ended;

    if (launch(g, err) || g->transport->test(g, x->ended, &ended, err))
        return err->code;
    for (int i = 0; i < ended; i++) {
        int request = x->ended[i];

        if (request < ddp_collective_requests(g))
            collective_request_ended(x, request);
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
    return !g->exchange->chunks_in_flight && !g->exchange->first;
}

ddp_status ddp_chunk_pipeline_look(ddp_group *g, ddp_error *err)
{
    int moved;

    /* A transport may move much data before a message ends, and finds more to do
     * right after one has: go on until there is nothing. */
    do {
        if (poll(g, &moved, err))
            return err->code;
    } while (moved && !is_idle(g));
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_progress(ddp_group *g, ddp_error *err)
{
    return is_idle(g) ? DDP_OK : ddp_chunk_pipeline_look(g, err);
}

/* ---- waiting ---- */

ddp_status ddp_chunk_pipeline_overdue(const ddp_group *g, int peer, int taking, const char *where,
                                      ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_COMM, "%s rank %d (host %s) for %.9g s%s",
                    taking ? "no message was taken by" : "no message from", peer, g->hosts[peer],
                    (double)g->timeout_ns / 1e9, where);
}

static ddp_status sum_overdue(ddp_group *g, ddp_error *err)
{
    const struct ddp_chunk *oldest = NULL;
    const struct ddp_chunk_pipeline *x = g->exchange;
    int peer = -1, taking = 0;
    char where[64];

    for (int i = 0; i < x->sizes.window; i++) {
        const struct ddp_chunk *c = in_flight(g, i);

        if (!c)
            continue;
        if (!oldest)
            oldest = c;
        if (peer < 0)
            peer = g->algorithm->behind(g, c);
    }
    if (peer < 0)
        peer = g->algorithm->waits_for(g, oldest, &taking);
    (void)snprintf(where, sizeof where, ", %s %d of %d", ddp_allreduce_kind(oldest->sum->gathers),
                   oldest->sum->number, g->sums_opened);
    return ddp_chunk_pipeline_overdue(g, peer, taking, where, err);
}

static int is_late(const ddp_group *g, int64_t since_ns)
{
    int64_t last = g->exchange->last_message_ns;

    if (last < since_ns)
        last = since_ns;
    return g->timeout_ns > 0 && ddp_clock_ns() - last > g->timeout_ns;
}

ddp_status ddp_chunk_pipeline_check_time(ddp_group *g, int64_t since_ns, ddp_error *err)
{
    return is_late(g, since_ns) ? sum_overdue(g, err) : DDP_OK;
}

ddp_status ddp_chunk_pipeline_wait_until(ddp_group *g, const int *left,
                                         ddp_status (*overdue)(ddp_group *g, ddp_error *err),
                                         ddp_error *err)
{
    int64_t start = ddp_clock_ns();

    while (*left) {
        struct ddp_backoff *relax = &g->exchange->relax;
        int moved;

        if (poll(g, &moved, err))
            return err->code;
        if (moved) {
            ddp_backoff_reset(relax);
            continue;
        }
        ddp_backoff(relax);
        if (is_late(g, start))
            return overdue(g, err);
    }
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_wait(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    return ddp_chunk_pipeline_wait_until(g, &s->chunks_left, sum_overdue, err);
}

/* ---- opening and closing ---- */

int ddp_chunk_pipeline_peer(const ddp_group *g, int i)
{
    return (g->rank + 1 + i) % g->size;
}

static ddp_status reserve(ddp_group *g, int requests, ddp_error *err)
{
    struct ddp_chunk_pipeline *x = g->exchange;
    /* One more than needed, since a group of one rank needs none. */
    int *ended = realloc(x->ended, ((size_t)requests + 1) * sizeof *ended);

    if (!ended)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d requests", requests);
    x->ended = ended;
    if (ddp_parts_reserve(x, requests, err))
        return err->code;
    return g->transport->reserve(g, requests, err);
}

ddp_status ddp_chunk_pipeline_open(ddp_group *g,
                                   const struct ddp_allreduce_algorithm *first_algorithm,
                                   ddp_error *err)
{
    struct ddp_chunk_pipeline *x = calloc(1, sizeof *x);

    g->exchange = x;
    g->first_algorithm = first_algorithm;
    if (x)
        x->collective_requests =
            calloc((size_t)ddp_collective_requests(g) + 1, sizeof *x->collective_requests);
    if (!x || !x->collective_requests)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's messages");
    return reserve(g, ddp_collective_requests(g), err);
}

static void close_algorithm(ddp_group *g)
{
    if (g->algorithm)
        g->algorithm->close(g);
    g->algorithm = NULL;
    g->algorithm_own = NULL;
    g->exchange->sizes = (struct ddp_chunk_sizes){0};
}

void ddp_chunk_pipeline_close(ddp_group *g)
{
    struct ddp_chunk_pipeline *x = g->exchange;

    if (!x)
        return;
    close_algorithm(g);
    ddp_parts_release(x);
    free(x->ended);
    free(x->collective_requests);
    free(x);
    g->exchange = NULL;
}

ddp_status ddp_chunk_pipeline_use(ddp_group *g, const struct ddp_allreduce_algorithm *algorithm,
                                  ddp_error *err)
{
    ddp_chunks chunks = algorithm->chunks(g);
    struct ddp_chunk_sizes sizes = {.count = chunks.bytes / sizeof(float), .window = chunks.window};
    ddp_status st;

    close_algorithm(g);
    g->algorithm = algorithm;
    st = algorithm->open(g, &sizes, err);
    if (!st)
        st = reserve(g, ddp_collective_requests(g) + sizes.window * sizes.requests, err);
    if (st)
        close_algorithm(g);
    else
        g->exchange->sizes = sizes;
    return st;
}
