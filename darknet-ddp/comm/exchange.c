#include "comm/exchange.h"

#include "base/clock.h"
#include "base/finite.h"
#include "comm/chunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Measured on two hosts with 1 and 4 Gbit/s between them, 102 MB in 5 sums: with 8
 * MiB in flight the link stays full, also when polled only every 10 ms. Smaller
 * chunks cost more polls, larger ones leave the link idle at the ends. But of many
 * ranks each sums a small piece, and a message costs as much CPU time as some 10 KB: then
 * chunks are larger, and fewer. */
enum {
    IN_FLIGHT_BYTES = 16 * DDP_EXCHANGE_CHUNK_BYTES,
    PIECE_BYTES = 128 * 1024, /* of a rank, in a chunk that is larger for many ranks' sake */
    LONGEST_CHUNK_BYTES = 8 << 20,
    LEAST_WINDOW = 4,
    TAGS = 8192, /* far more than there are in flight */
    FIRST_COLLECTIVE_TAG = 2 * TAGS,
    SPINS = 100, /* idle polls before a wait lets others run */
    NAP_NS = 100000,
    ALIGNMENT = 64
};

/* A request of the collective under way. */
struct collective_request {
    int peer;
    int is_recv;
    int pending;
};

struct ddp_exchange {
    size_t chunk_count; /* floats of a chunk */
    int window;         /* chunks in flight */
    struct ddp_chunk *chunks;
    int chunks_in_flight;
    uint32_t next_sequence;
    struct ddp_host_sum *first, *last;              /* sums with chunks to launch */
    int64_t last_message_ns;                        /* when one of ours, in or out, last ended */
    int *ended;                                     /* room for the requests of one test */
    unsigned char *chunk_ended;                     /* the chunks' own, in one piece */
    struct collective_request *collective_requests; /* 2 (size-1) of them */
    int collective_left;
    uint32_t collective;
};

int ddp_exchange_peer(const ddp_group *g, int i)
{
    return (g->rank + 1 + i) % g->size;
}

int ddp_exchange_sum_tag(uint32_t sequence, int phase)
{
    return (int)(sequence % TAGS) * 2 + phase;
}

int ddp_exchange_collective_tag(const ddp_group *g)
{
    return FIRST_COLLECTIVE_TAG + (int)(g->exchange->collective % TAGS);
}

void ddp_exchange_next_collective(ddp_group *g)
{
    g->exchange->collective++;
}

static int chunk_requests(const ddp_group *g)
{
    return 2 * (g->size - 1);
}

static void choose_chunks(struct ddp_exchange *x, int size)
{
    size_t bytes = (size_t)size * PIECE_BYTES;

    if (bytes < DDP_EXCHANGE_CHUNK_BYTES)
        bytes = DDP_EXCHANGE_CHUNK_BYTES;
    if (bytes > LONGEST_CHUNK_BYTES)
        bytes = LONGEST_CHUNK_BYTES;
    x->chunk_count = bytes / sizeof(float);
    x->window = (int)(IN_FLIGHT_BYTES / bytes);
    if (x->window < LEAST_WINDOW)
        x->window = LEAST_WINDOW;
}

static int open_chunk(ddp_group *g, int i)
{
    struct ddp_chunk *c = &g->exchange->chunks[i];
    size_t bytes = ddp_chunk_scratch(g->exchange->chunk_count, g->size) * sizeof *c->scratch;

    c->first_request = i * chunk_requests(g);
    c->ended = g->exchange->chunk_ended + c->first_request;
    c->parts = calloc((size_t)g->size, sizeof *c->parts);
    c->scratch = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return c->parts && c->scratch;
}

ddp_status ddp_exchange_open(ddp_group *g, ddp_error *err)
{
    struct ddp_exchange *x = calloc(1, sizeof *x);
    int ok = x != NULL, requests = 0;

    g->exchange = x;
    g->host_sums = &ddp_exchange_sums;
    if (ok) {
        choose_chunks(x, g->size);
        requests = (x->window + 1) * chunk_requests(g);
        x->chunks = calloc((size_t)x->window, sizeof *x->chunks);
        /* One more than needed, since a group of one rank needs none. */
        x->ended = calloc((size_t)requests + 1, sizeof *x->ended);
        x->chunk_ended = calloc((size_t)requests + 1, 1);
        x->collective_requests =
            calloc((size_t)chunk_requests(g) + 1, sizeof *x->collective_requests);
        ok = x->chunks && x->ended && x->chunk_ended && x->collective_requests;
    }
    for (int i = 0; ok && g->size > 1 && i < x->window; i++)
        ok = open_chunk(g, i);
    if (!ok)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
    return g->transport->reserve(g, requests, err);
}

void ddp_exchange_close(ddp_group *g)
{
    struct ddp_exchange *x = g->exchange;

    if (!x)
        return;
    for (int i = 0; x->chunks && i < x->window; i++) {
        free(x->chunks[i].parts);
        free(x->chunks[i].scratch);
    }
    free(x->chunks);
    free(x->ended);
    free(x->chunk_ended);
    free(x->collective_requests);
    free(x);
    g->exchange = NULL;
}

static struct ddp_chunk *unused_chunk(struct ddp_exchange *x)
{
    for (int i = 0; i < x->window; i++)
        if (!x->chunks[i].sum)
            return &x->chunks[i];
    return NULL;
}

static ddp_status launch(ddp_group *g, ddp_error *err)
{
    struct ddp_exchange *x = g->exchange;

    while (x->first && x->chunks_in_flight < x->window) {
        struct ddp_host_sum *a = x->first;
        struct ddp_chunk *c = unused_chunk(x);
        size_t left = a->count - a->launched;

        c->sum = a;
        c->data = a->buf + a->launched;
        c->count = left < x->chunk_count ? left : x->chunk_count;
        c->sequence = x->next_sequence++;
        x->chunks_in_flight++;
        a->launched += c->count;
        if (a->launched == a->count)
            x->first = a->next;
        if (ddp_chunk_launch(g, c, err))
            return ddp_wrap(err, "sum %d of %d", a->number, g->sums_opened);
    }
    return DDP_OK;
}

static ddp_status chunk_request_ended(ddp_group *g, int request, ddp_error *err)
{
    struct ddp_exchange *x = g->exchange;
    struct ddp_chunk *c = &x->chunks[request / chunk_requests(g)];

    if (ddp_chunk_advance(g, c, request % chunk_requests(g), err))
        return ddp_wrap(err, "sum %d of %d", c->sum->number, g->sums_opened);
    if (c->requests_left == 0) {
        if (--c->sum->chunks_left == 0 && c->sum->ended)
            ddp_device_event_record(c->sum->ended);
        c->sum = NULL;
        x->chunks_in_flight--;
    }
    return DDP_OK;
}

/* One round of moving data. *moved is the number of messages that ended. */
static ddp_status poll(ddp_group *g, int *moved, ddp_error *err)
{
    struct ddp_exchange *x = g->exchange;
    int first_collective = x->window * chunk_requests(g);

    *moved = 0;
    if (launch(g, err) || g->transport->test(g, x->ended, moved, err))
        return err->code;
    if (*moved)
        x->last_message_ns = ddp_clock_ns();
    for (int i = 0; i < *moved; i++) {
        int request = x->ended[i];

        if (request >= first_collective) {
            x->collective_requests[request - first_collective].pending = 0;
            x->collective_left--;
        } else if (chunk_request_ended(g, request, err)) {
            return err->code;
        }
    }
    return DDP_OK;
}

ddp_status ddp_exchange_progress(ddp_group *g, ddp_error *err)
{
    struct ddp_exchange *x = g->exchange;
    int moved = 1;

    /* A transport may move much data before a message ends, and finds more to do
     * right after one has: go on until there is nothing. */
    while (moved && (x->chunks_in_flight || x->first))
        if (poll(g, &moved, err))
            return err->code;
    return DDP_OK;
}

/* Let others have the core: this rank's loader threads, or another rank where
 * there are more of them than cores. */
static void relax(int idle_polls)
{
    struct timespec nap = {0, NAP_NS};

    if (idle_polls > SPINS)
        (void)nanosleep(&nap, NULL);
}

static ddp_status overdue(ddp_group *g, int peer, int taking, const char *where, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_COMM, "%s rank %d (host %s) for %.9g s%s",
                    taking ? "no message was taken by" : "no message from", peer, g->hosts[peer],
                    (double)g->timeout_ns / 1e9, where);
}

static ddp_status collective_overdue(ddp_group *g, ddp_error *err)
{
    const struct collective_request *collective_requests = g->exchange->collective_requests;
    int n = chunk_requests(g), late = -1;

    for (int i = 0; i < n; i++)
        if (collective_requests[i].pending && (late < 0 || collective_requests[i].is_recv))
            late = i;
    return overdue(g, collective_requests[late].peer, !collective_requests[late].is_recv, "", err);
}

static ddp_status sum_overdue(ddp_group *g, ddp_error *err)
{
    const struct ddp_chunk *oldest = NULL, *behind = NULL;
    const struct ddp_exchange *x = g->exchange;
    int peer, taking = 0;
    char where[64];

    for (int i = 0; i < x->window; i++) {
        const struct ddp_chunk *c = &x->chunks[i];

        if (!c->sum)
            continue;
        if (!oldest || (int32_t)(c->sequence - oldest->sequence) < 0)
            oldest = c;
        if (ddp_chunk_behind(g, c) >= 0
            && (!behind || (int32_t)(c->sequence - behind->sequence) < 0))
            behind = c;
    }
    peer = behind ? ddp_chunk_behind(g, behind) : ddp_chunk_waits_for(g, oldest, &taking);
    (void)snprintf(where, sizeof where, ", sum %d of %d", oldest->sum->number, g->sums_opened);
    return overdue(g, peer, taking, where, err);
}

static int is_late(const ddp_group *g, int64_t since_ns)
{
    int64_t last = g->exchange->last_message_ns;

    if (last < since_ns)
        last = since_ns;
    return g->timeout_ns > 0 && ddp_clock_ns() - last > g->timeout_ns;
}

ddp_status ddp_exchange_check_time(ddp_group *g, int64_t since_ns, ddp_error *err)
{
    return is_late(g, since_ns) ? sum_overdue(g, err) : DDP_OK;
}

/* Move data until *left is 0. */
static ddp_status wait_for(ddp_group *g, const int *left, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    int idle_polls = 0;

    while (*left) {
        int moved;

        if (poll(g, &moved, err))
            return err->code;
        if (moved) {
            idle_polls = 0;
            continue;
        }
        relax(++idle_polls);
        if (is_late(g, start))
            return left == &g->exchange->collective_left ? collective_overdue(g, err)
                                                         : sum_overdue(g, err);
    }
    return DDP_OK;
}

ddp_status ddp_exchange_start(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    struct ddp_exchange *x = g->exchange;

    s->not_finite = g->size == 1 && !ddp_all_finite(s->buf, s->count);
    if (g->size == 1)
        return DDP_OK;
    s->chunks_left = (int)((s->count + x->chunk_count - 1) / x->chunk_count);
    s->launched = 0;
    s->next = NULL;
    if (x->first)
        x->last->next = s;
    else
        x->first = s;
    x->last = s;
    return launch(g, err);
}

ddp_status ddp_exchange_wait(ddp_group *g, struct ddp_host_sum *s, ddp_error *err)
{
    return wait_for(g, &s->chunks_left, err);
}

/* ---- the engine ---- */

static ddp_status sum_open(ddp_allreduce *a, ddp_error *err)
{
    struct ddp_host_sum *s = calloc(1, sizeof *s);

    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a sum");
    *s = (struct ddp_host_sum){.buf = a->buf, .count = a->count, .ended = a->ended};
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

    s->number = a->number;
    ddp_device_event_record(a->began);
    return ddp_exchange_start(a->group, s, err);
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
    return ddp_exchange_wait(a->group, a->own, err);
}

static int sum_finite(ddp_allreduce *a)
{
    const struct ddp_host_sum *s = a->own;

    return !s->not_finite;
}

const struct ddp_sum_engine ddp_exchange_sums = {
    .open = sum_open,
    .close = sum_close,
    .start = sum_start,
    .in_flight = sum_in_flight,
    .done = sum_done,
    .fence = sum_wait,
    .wait = sum_wait,
    .finite = sum_finite,
};

/* ---- messages of collectives ---- */

static int next_collective_request(ddp_group *g, const struct ddp_message *m, int is_recv)
{
    struct ddp_exchange *x = g->exchange;
    int i = 0;

    while (x->collective_requests[i].pending)
        i++;
    x->collective_requests[i] = (struct collective_request){m->peer, is_recv, 1};
    x->collective_left++;
    return x->window * chunk_requests(g) + i;
}

ddp_status ddp_exchange_send(ddp_group *g, const struct ddp_message *m, ddp_error *err)
{
    return g->transport->send(g, next_collective_request(g, m, 0), m, err);
}

ddp_status ddp_exchange_recv(ddp_group *g, const struct ddp_message *m, ddp_error *err)
{
    return g->transport->recv(g, next_collective_request(g, m, 1), m, err);
}

ddp_status ddp_exchange_finish(ddp_group *g, ddp_error *err)
{
    return wait_for(g, &g->exchange->collective_left, err);
}
