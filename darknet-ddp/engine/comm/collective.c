/* Moves the data of collectives: broadcast, transfer from one rank to another, allgather, gather
 * and barrier. comm/collectives.c checks their arguments.
 *
 * Collectives carry little data, or much data seldom (a model, a checkpoint), so the code is simple
 * rather than fast. If nothing comes for the group's timeout, a wait ends with an error that names
 * a rank that is waited for. Long data travel in segments of 1 MiB: so a message stays below MPI's
 * limit of 2 GiB, and a broadcast sends one segment on while it receives the next. */
#include "comm/collective.h"

#include "comm/chunk_pipeline_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT_BYTES = 1 << 20,
    MOST_TOLD = 32 /* ranks that all tell each other */
};

/* ---- messages ---- */

static struct ddp_message message(const ddp_group *g, int peer, void *data, size_t bytes)
{
    int tag = 2 * DDP_TAGS + (int)(g->pipeline->next_collective % DDP_TAGS);

    return (struct ddp_message){.peer = peer, .tag = tag, .bytes = bytes, .buf = data};
}

static int next_request(struct ddp_chunk_pipeline *x, int peer, int is_recv)
{
    int i = 0;

    while (x->collective_requests[i].pending)
        i++;
    x->collective_requests[i] = (struct ddp_collective_request){peer, is_recv, 1};
    x->collective_left++;
    return i;
}

ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err)
{
    struct ddp_message m = message(g, peer, data, bytes);

    return g->transport->send(g, next_request(g->pipeline, peer, 0), &m, err);
}

ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err)
{
    struct ddp_message m = message(g, peer, data, bytes);

    return g->transport->recv(g, next_request(g->pipeline, peer, 1), &m, err);
}

static ddp_status overdue(ddp_group *g, ddp_error *err)
{
    const struct ddp_collective_request *requests = g->pipeline->collective_requests;
    int n = ddp_collective_requests(g), late = -1;

    for (int i = 0; i < n; i++)
        if (requests[i].pending && (late < 0 || requests[i].is_recv))
            late = i;
    return ddp_fail_late_rank(g, requests[late].peer, !requests[late].is_recv, "", err);
}

ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err)
{
    return ddp_chunk_pipeline_wait_until(g, &g->pipeline->collective_left, overdue, err);
}

void ddp_collective_next(ddp_group *g)
{
    g->pipeline->next_collective++;
}

/* ---- collectives ---- */

static size_t segment(size_t bytes, size_t at)
{
    return bytes - at < SEGMENT_BYTES ? bytes - at : SEGMENT_BYTES;
}

/* A binomial tree over the distance from root: a rank's parent clears its lowest
 * bit, its children set one bit below that. */
static ddp_status send_to_children(ddp_group *g, void *data, size_t bytes, int root, ddp_error *err)
{
    int distance = (g->rank - root + g->size) % g->size;
    int bit = 1;

    while (bit < g->size && !(distance & bit))
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        int child = (distance + bit + root) % g->size;

        if (distance + bit < g->size && ddp_collective_send(g, child, data, bytes, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status receive_from_parent(ddp_group *g, void *data, size_t bytes, int root,
                                      ddp_error *err)
{
    int distance = (g->rank - root + g->size) % g->size;
    int parent = (distance & (distance - 1)) + root;

    return distance == 0 ? DDP_OK : ddp_collective_recv(g, parent % g->size, data, bytes, err);
}

ddp_status ddp_collective_broadcast(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err)
{
    char *data = buf;

    /* While one segment comes, the one before it goes on. */
    for (size_t at = 0; at < bytes; at += SEGMENT_BYTES) {
        size_t n = segment(bytes, at);

        if (receive_from_parent(g, data + at, n, root, err) || ddp_collective_finish(g, err)
            || send_to_children(g, data + at, n, root, err))
            return err->code;
    }
    if (ddp_collective_finish(g, err))
        return err->code;
    ddp_collective_next(g);
    return DDP_OK;
}

ddp_status ddp_collective_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                                   ddp_error *err)
{
    char *data = buf;
    int takes_part = g->rank == from || g->rank == to;

    for (size_t at = 0; takes_part && at < bytes; at += SEGMENT_BYTES) {
        size_t n = segment(bytes, at);
        ddp_status st = g->rank == from ? ddp_collective_send(g, to, data + at, n, err)
                                        : ddp_collective_recv(g, from, data + at, n, err);

        if (st || ddp_collective_finish(g, err))
            return err->code;
    }
    ddp_collective_next(g);
    return DDP_OK;
}

/* A segment of each rank's, as far as it has so much. */
static ddp_status receive_segments(ddp_group *g, char *data, const size_t *bytes, size_t at,
                                   ddp_error *err)
{
    for (int rank = 0; rank < g->size; data += bytes[rank++])
        if (rank != g->rank && at < bytes[rank]
            && ddp_collective_recv(g, rank, data + at, segment(bytes[rank], at), err))
            return err->code;
    return ddp_collective_finish(g, err);
}

static ddp_status receive_all(ddp_group *g, char *data, const size_t *bytes, ddp_error *err)
{
    size_t most = 0;
    ddp_status st = DDP_OK;

    for (int rank = 0; rank < g->size; rank++)
        if (rank != g->rank && most < bytes[rank])
            most = bytes[rank];
    for (size_t at = 0; at < most && !st; at += SEGMENT_BYTES)
        st = receive_segments(g, data, bytes, at, err);
    return st;
}

ddp_status ddp_collective_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                                 ddp_error *err)
{
    char *own = data;
    ddp_status st = g->rank == root ? receive_all(g, data, bytes, err) : DDP_OK;

    for (size_t at = 0; g->rank != root && at < *bytes && !st; at += SEGMENT_BYTES) {
        st = ddp_collective_send(g, root, own + at, segment(*bytes, at), err);
        if (!st)
            st = ddp_collective_finish(g, err);
    }
    ddp_collective_next(g);
    return st;
}

static ddp_status swap_segment(ddp_group *g, char *all, size_t bytes, size_t at, ddp_error *err)
{
    size_t n = segment(bytes, at);

    for (int i = 0; i < g->size - 1; i++) {
        int peer = ddp_chunk_pipeline_peer(g, i);

        if (ddp_collective_recv(g, peer, all + (size_t)peer * bytes + at, n, err)
            || ddp_collective_send(g, peer, all + (size_t)g->rank * bytes + at, n, err))
            return err->code;
    }
    return ddp_collective_finish(g, err);
}

/* Ranks that have told each other of `known` ranks double that: a rank talks to few, and what it
 * knows lies behind its own, in a circle. */
static ddp_status double_known(ddp_group *g, char *known, int count, size_t bytes, ddp_error *err)
{
    int more = count < g->size - count ? count : g->size - count;
    int from = (g->rank + count) % g->size, to = (g->rank - count + g->size) % g->size;

    for (size_t at = 0; at <= (size_t)more * bytes; at += SEGMENT_BYTES) {
        size_t n = segment((size_t)more * bytes, at);

        if (ddp_collective_recv(g, from, known + (size_t)count * bytes + at, n, err)
            || ddp_collective_send(g, to, known + at, n, err) || ddp_collective_finish(g, err))
            return err->code;
    }
    return DDP_OK;
}

/* For many ranks: each talks to as many as their number has binary digits. */
static ddp_status gather_by_doubling(ddp_group *g, char *all, size_t bytes, ddp_error *err)
{
    char *known = malloc((size_t)g->size * bytes + 1);
    ddp_status st = DDP_OK;

    if (!known)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks' %zu bytes", g->size, bytes);
    memcpy(known, all + (size_t)g->rank * bytes, bytes);
    for (int count = 1; count < g->size && !st; count *= 2)
        st = double_known(g, known, count, bytes, err);
    for (int i = 0; i < g->size && !st; i++)
        memcpy(all + (size_t)((g->rank + i) % g->size) * bytes, known + (size_t)i * bytes, bytes);
    free(known);
    return st;
}

/* Up to MOST_TOLD ranks all send to each other, so that all miss a missing rank. With more ranks
 * that would take too many connections. */
ddp_status ddp_collective_allgather(ddp_group *g, void *all, size_t bytes, ddp_error *err)
{
    char nothing = 0;
    char *data = bytes ? all : &nothing;
    ddp_status st = DDP_OK;
    size_t at = 0;

    if (g->size > MOST_TOLD) {
        st = gather_by_doubling(g, data, bytes, err);
    } else {
        do {
            st = swap_segment(g, data, bytes, at, err);
            at += SEGMENT_BYTES;
        } while (!st && at < bytes);
    }
    ddp_collective_next(g);
    return st;
}
