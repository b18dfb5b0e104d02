/* The backend gloo: Gloo carries the messages of ranks, and nothing else (transport/gloo_link.h).
 * comm/chunk_pipeline.h decides what is summed in which order, as for MPI, so the bits are the
 * same.
 *
 * Ranks find each other by files (transport/rendezvous.h), and then need no launcher and no MPI. Or
 * they find each other by MPI, which stays open until the end and carries nothing more. */
#include "comm/chunk_pipeline.h"
#include "comm/collective.h"
#include "comm/collectives.h"
#include "transport/backends.h"
#include "transport/gloo_link.h"
#include "transport/peer_addresses.h"
#include "transport/peer_connections.h"
#include "transport/rendezvous.h"

#include <stdlib.h>
#include <string.h>

struct gloo_group {
    ddp_gloo_link *link;
    ddp_group *mpi;        /* NULL: they met by files */
    ddp_rendezvous *files; /* NULL: they met by MPI, or all are connected */
};

static struct gloo_group *gloo_of(const ddp_group *g)
{
    return g->own;
}

static ddp_status failed(const ddp_group *g, const ddp_gloo_failure *f, ddp_error *err)
{
    if (f->peer < 0)
        return ddp_fail(err, DDP_ERR_COMM, "Gloo: %s", f->text);
    return ddp_fail(err, DDP_ERR_COMM, "connection with rank %d (host %s): %s", f->peer,
                    g->hosts[f->peer], f->text);
}

/* ---- messages ---- */

static ddp_status gloo_reserve(ddp_group *g, int requests, ddp_error *err)
{
    ddp_gloo_failure f;

    return ddp_gloo_reserve(gloo_of(g)->link, requests, &f) ? DDP_OK : failed(g, &f, err);
}

static ddp_status gloo_send(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err)
{
    ddp_gloo_failure f;

    return ddp_gloo_send(gloo_of(g)->link, request, m->peer, m->tag, m->buf, m->bytes, &f)
               ? DDP_OK
               : failed(g, &f, err);
}

static ddp_status gloo_recv(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err)
{
    ddp_gloo_failure f;

    return ddp_gloo_recv(gloo_of(g)->link, request, m->peer, m->tag, m->buf, m->bytes, &f)
               ? DDP_OK
               : failed(g, &f, err);
}

static ddp_status gloo_test(ddp_group *g, int *ended, int *count, ddp_error *err)
{
    ddp_gloo_failure f;

    return ddp_gloo_test(gloo_of(g)->link, ended, count, &f) ? DDP_OK : failed(g, &f, err);
}

static const struct ddp_transport transport = {
    .reserve = gloo_reserve,
    .send = gloo_send,
    .recv = gloo_recv,
    .test = gloo_test,
};

/* ---- the end ---- */

/* Others may still save what this rank waits for. */
static int64_t goodbye_ms(const ddp_group *g)
{
    const int64_t longest_ms = 24 * 3600 * INT64_C(1000);

    return g->timeout_ns > 0 ? g->timeout_ns / 1000000 + 1 : longest_ms;
}

static void gloo_close(ddp_group *g)
{
    struct gloo_group *gloo = gloo_of(g);
    int in_peace = !g->failure.code && gloo->link && !ddp_gloo_busy(gloo->link);

    ddp_gloo_close(gloo->link, in_peace ? goodbye_ms(g) : 0);
    ddp_rendezvous_give_up(gloo->files);
    if (gloo->mpi && !in_peace)
        (void)ddp_fail(&gloo->mpi->failure, DDP_ERR_COMM, "Gloo's group has ended early");
    ddp_group_close(gloo->mpi);
    ddp_chunk_pipeline_close(g);
    free(gloo);
    ddp_group_clear(g);
}

/* ---- the start ---- */

/* How ranks tell each other what they must know to connect. */
struct meeting {
    ddp_group *mpi;
    ddp_rendezvous *files;
    int rank, size;
};

static ddp_status open_mpi(ddp_group **mpi, ddp_error *err)
{
#ifdef DDP_WITH_MPI
    return ddp_group_open_with(mpi, &ddp_backend_mpi, err);
#else
    *mpi = NULL;
    return ddp_fail(err, DDP_ERR_USAGE, "no backend 'mpi' in this build");
#endif
}

static ddp_status open_meeting(struct meeting *m, ddp_error *err)
{
    const ddp_rendezvous_config *config = ddp_group_rendezvous();

    *m = (struct meeting){.mpi = NULL};
    if (config) {
        m->rank = config->rank;
        m->size = config->size;
        return ddp_rendezvous_open(&m->files, config, err);
    }
    if (open_mpi(&m->mpi, err))
        return err->code;
    m->rank = ddp_group_rank(m->mpi);
    m->size = ddp_group_size(m->mpi);
    return DDP_OK;
}

static ddp_status gather(const struct meeting *m, const void *mine, void *all, size_t bytes,
                         ddp_error *err)
{
    return m->mpi ? ddp_allgather(m->mpi, mine, all, bytes, err)
                  : ddp_rendezvous_gather(m->files, mine, all, bytes, err);
}

/* The state until the ranks are connected. peers is indexed by the numbers with which the ranks
 * met, all else by the ranks of the group. */
struct plan {
    ddp_peer_address *peers;
    int *order, *first;
    ddp_peer_listener *listeners;
    int *connections; /* by the group's ranks; -1: none */
};

static void free_plan(struct plan *p, int size)
{
    ddp_peer_connections_close(p->connections, size);
    free(p->peers);
    free(p->order);
    free(p->first);
    free(p->listeners);
    free(p->connections);
}

static ddp_status alloc_plan(struct plan *p, int size, ddp_error *err)
{
    size_t n = (size_t)size;

    p->peers = calloc(n, sizeof *p->peers);
    p->order = calloc(n, sizeof *p->order);
    p->first = calloc(n, sizeof *p->first);
    p->listeners = calloc(n, sizeof *p->listeners);
    p->connections = calloc(n, sizeof *p->connections);
    if (!p->peers || !p->order || !p->first || !p->listeners || !p->connections)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks' addresses", size);
    for (int r = 0; r < size; r++)
        p->connections[r] = -1;
    return DDP_OK;
}

static ddp_status number_ranks(ddp_group *g, const struct meeting *m, const struct plan *p,
                               ddp_error *err)
{
    int rank = 0;

    while (p->order[rank] != m->rank)
        rank++;
    if (ddp_group_set_ranks(g, rank, m->size, err))
        return err->code;
    for (int r = 0; r < m->size; r++)
        memcpy(g->hosts[r], p->peers[p->order[r]].host, DDP_HOST_BYTES);
    ddp_group_set_places(g, p->first);
    return DDP_OK;
}

/* Also where this rank cannot, the others learn of it. */
static ddp_status open_listeners(const ddp_group *g, const struct meeting *m, struct plan *p,
                                 ddp_listener **listener, ddp_error *err)
{
    ddp_peer_listener own = {.at = {.family = 0}};
    ddp_net_address address;
    ddp_error ignored;
    ddp_status st = ddp_peer_listen_address(p->peers, m->size, m->rank, &address, err);

    if (!st)
        st = ddp_peer_listener_open(listener, &own, &address, m->size, err);
    if (gather(m, &own, p->listeners, sizeof own, st ? &ignored : err) && !st)
        return err->code;
    for (int r = 0; !st && r < m->size; r++)
        if (p->listeners[p->order[r]].at.family == 0)
            st = ddp_fail(err, DDP_ERR_COMM, "rank %d (host %s) cannot listen", r, g->hosts[r]);
    return st;
}

static ddp_status connect_all(ddp_group *g, const struct meeting *m, struct plan *p, ddp_error *err)
{
    ddp_listener *listener = NULL;
    ddp_gloo_failure f;
    ddp_status st = open_listeners(g, m, p, &listener, err);

    if (!st)
        st = ddp_peer_connect(g, listener, p->listeners, p->order, p->connections, err);
    ddp_listener_close(listener);
    if (st)
        return st;
    gloo_of(g)->link = ddp_gloo_open(g->rank, g->size, p->connections, &f);
    return gloo_of(g)->link ? DDP_OK : failed(g, &f, err);
}

static ddp_status set_up(ddp_group *g, const struct meeting *m, struct plan *p, ddp_error *err)
{
    ddp_peer_address peer;
    ddp_status st;

    st = ddp_peer_address_fill(&peer, err);
    if (!st)
        st = gather(m, &peer, p->peers, sizeof peer, err);
    if (st)
        return st;
    ddp_peer_addresses_order(p->peers, m->size, p->order, p->first);
    st = number_ranks(g, m, p, err);
    if (!st)
        st = connect_all(g, m, p, err);
    return st ? st : ddp_chunk_pipeline_open(g, err);
}

/* All have read this rank's file by now. */
static ddp_status end_meeting(ddp_group *g, ddp_error *err)
{
    struct gloo_group *gloo = gloo_of(g);
    ddp_status st = g->size > 1 ? ddp_collective_allgather(g, NULL, 0, err) : DDP_OK;

    if (!st) {
        ddp_rendezvous_close(gloo->files);
        gloo->files = NULL;
    }
    return st;
}

static ddp_status gloo_open(ddp_group *g, ddp_error *err)
{
    struct gloo_group *gloo = calloc(1, sizeof *gloo);
    struct plan plan = {NULL};
    struct meeting m;
    ddp_status st = gloo ? open_meeting(&m, err)
                         : ddp_fail(err, DDP_ERR_NOMEM, "no memory for Gloo's connections");

    if (st) {
        free(gloo);
        return st;
    }
    g->own = gloo;
    g->transport = &transport;
    gloo->mpi = m.mpi;
    gloo->files = m.files;
    st = alloc_plan(&plan, m.size, err);
    if (!st)
        st = set_up(g, &m, &plan, err);
    free_plan(&plan, m.size);
    if (!st)
        st = end_meeting(g, err);
    if (st) {
        g->failure = *err; /* do not wait for the others */
        gloo_close(g);
    }
    return st;
}

const struct ddp_backend ddp_backend_gloo = {
    .name = "gloo",
    .open = gloo_open,
    .close = gloo_close,
    .abort = ddp_group_exit,
};
