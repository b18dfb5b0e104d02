/* transport/peer_connections.h: opens a TCP connection between each two ranks. A rank listens for
 * all ranks with higher numbers, which connect to it. It draws a key, and refuses connections that
 * do not begin with this key (base/listener.h). */
#ifndef DDP_TRANSPORT_PEER_CONNECTIONS_H
#define DDP_TRANSPORT_PEER_CONNECTIONS_H

#include "base/listener.h"
#include "comm/backend.h"

/* Key and address by which others connect with a rank: plain bytes, which are sent as they are. */
typedef struct ddp_peer_listener {
    ddp_key key;
    ddp_net_address at; /* address on which the rank listens; family 0: it cannot listen */
} ddp_peer_listener;

/* Listen on an address of this host for connections of the other ranks, and set *own. size: number
 * of ranks. On failure own->at.family becomes 0. Close *out with ddp_listener_close, also after a
 * failure. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_peer_listener_open(ddp_listener **out, ddp_peer_listener *own,
                                  const ddp_net_address *address, int size,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Connect with all other ranks. Every rank calls it. Waits for each of them for 30 s at most.
 *
 *   listener     this rank's, of ddp_peer_listener_open
 *   listeners    rank r listens at listeners[order[r]]
 *   connections  one entry for each rank, all -1. connections[r] becomes a non-blocking socket to
 *                rank r; this rank's own stays -1. The caller closes them, also after a failure.
 *
 * Fails with DDP_ERR_COMM; the text names the rank. */
ddp_status ddp_peer_connect(const ddp_group *g, ddp_listener *listener,
                            const ddp_peer_listener *listeners, const int *order, int *connections,
                            ddp_error *err) DDP_MUST_CHECK;

/* Close those of connections[0..size) that are not -1. connections may be NULL. */
void ddp_peer_connections_close(int *connections, int size);

#endif
