/* transport/peer_connections.h: a TCP connection between each two ranks. Each rank listens until
 * all with higher numbers have connected, and draws a key for them: a connection that does not
 * begin with it is refused (base/listener.h). */
#ifndef DDP_TRANSPORT_PEER_CONNECTIONS_H
#define DDP_TRANSPORT_PEER_CONNECTIONS_H

#include "base/listener.h"
#include "comm/backend.h"

/* Key and address that others need to connect with a rank: plain bytes, sent as they are. */
typedef struct ddp_peer_listener {
    ddp_key key;
    ddp_net_address at; /* address where it listens; of no family: it cannot listen */
} ddp_peer_listener;

/* Listen at an address of this host for the connections of other ranks, of `size` in all, and fill
 * *own; on failure own->at is of no family. Close *out with ddp_listener_close, also after a
 * failure. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_peer_listener_open(ddp_listener **out, ddp_peer_listener *own,
                                  const ddp_net_address *address, int size,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Connect with all other ranks. connections[r], -1 before, becomes the connection with rank r; this
 * rank's own stays -1. The listener of rank r is listeners[order[r]]. Every rank calls it; waits
 * for each rank for 30 s at most. Reads and writes of the connections do not block. Fails with
 * DDP_ERR_COMM; the text names the rank. The caller closes the connections, also after a failure.
 */
ddp_status ddp_peer_connect(const ddp_group *g, ddp_listener *listener,
                            const ddp_peer_listener *listeners, const int *order, int *connections,
                            ddp_error *err) DDP_MUST_CHECK;

/* Close those of connections[0..size) that are not -1. connections may be NULL. */
void ddp_peer_connections_close(int *connections, int size);

#endif
