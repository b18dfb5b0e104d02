#include "transport/peer_connections.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* STRANGERS: so many more connections than there are ranks may be pending at a time. */
enum { STRANGERS = 64, WAIT_MS = 30000, LOOK_MS = 500 };

ddp_status ddp_peer_listener_open(ddp_listener **out, ddp_peer_listener *own,
                                  const ddp_net_address *address, int size, ddp_error *err)
{
    ddp_status st;

    ddp_key_draw(&own->key);
    own->at = *address;
    st = ddp_listener_open(out, &own->key, size + STRANGERS, err);
    if (!st)
        st = ddp_listener_bind(*out, &own->at, err);
    if (st)
        own->at.family = 0;
    return st;
}

static ddp_status cannot_connect(const ddp_group *g, int rank, const ddp_net_address *at,
                                 ddp_error *err)
{
    int why = errno;
    char text[DDP_ADDRESS_TEXT];

    ddp_net_address_text(at, text);
    return ddp_fail(err, DDP_ERR_COMM,
                    "connection with rank %d (host %s): cannot connect to %s: %s", rank,
                    g->hosts[rank], text, strerror(why));
}

static int lowest_missing(const ddp_group *g, const int *connections)
{
    for (int r = g->rank + 1; r < g->size; r++)
        if (connections[r] < 0)
            return r;
    return -1;
}

static void wait_at(const ddp_listener *listener)
{
    struct pollfd *fds = calloc((size_t)ddp_listener_most_fds(listener), sizeof *fds);

    (void)poll(fds, fds ? (nfds_t)ddp_listener_put_fds(listener, fds) : 0, LOOK_MS);
    free(fds);
}

/* One of them, within WAIT_MS. */
static ddp_status accept_one(const ddp_group *g, ddp_listener *listener, int *connections,
                             int missing, ddp_error *err)
{
    int64_t until_ns = ddp_clock_ns() + WAIT_MS * INT64_C(1000000);
    int32_t rank;

    while (ddp_clock_ns() < until_ns) {
        int fd = ddp_listener_accept(listener, &rank);

        if (fd >= 0 && rank > g->rank && rank < g->size && connections[rank] < 0) {
            connections[rank] = fd;
            return DDP_OK;
        }
        if (fd >= 0)
            (void)close(fd);
        else
            wait_at(listener);
    }
    return ddp_fail(err, DDP_ERR_COMM, "connection with rank %d (host %s): none for %d s", missing,
                    g->hosts[missing], WAIT_MS / 1000);
}

ddp_status ddp_peer_connect(const ddp_group *g, ddp_listener *listener,
                            const ddp_peer_listener *listeners, const int *order, int *connections,
                            ddp_error *err)
{
    for (int r = 0; r < g->rank; r++) {
        const ddp_peer_listener *to = &listeners[order[r]];
        const ddp_handshake handshake = {.key = to->key, .who = g->rank};

        connections[r] = ddp_listener_connect(&to->at, 1, &handshake, WAIT_MS);
        if (connections[r] < 0)
            return cannot_connect(g, r, &to->at, err);
    }
    for (int missing; (missing = lowest_missing(g, connections)) >= 0;)
        if (accept_one(g, listener, connections, missing, err))
            return err->code;
    return DDP_OK;
}

void ddp_peer_connections_close(int *connections, int size)
{
    for (int r = 0; connections && r < size; r++)
        if (connections[r] >= 0)
            (void)close(connections[r]);
}
