/* transport/gloo_link.h: Gloo's messages, for transport/gloo.c alone, in C.
 *
 * The files behind it (gloo_peer.h) are the only ones of ours in C++; what Gloo throws ends there.
 *
 * Gloo moves messages on a thread of its own, matched by a number (its "slot"), but a program can
 * only wait for an operation, and a wait that takes too long closes all connections. So a thread
 * for each peer waits here, and never for anything that the program of a rank has still to do:
 *
 *   Each message is announced by a note, {sent, tag, bytes}. Where it has been asked for, or once
 *   it is, the peer's thread waits for its data, which is under way: both ranks' Gloo have what
 *   they need. When it is there the thread answers {taken, tag, bytes}, and that ends the request
 *   of the sender.
 *
 * Sending a note never blocks, so an answer is never queued after a message that nobody has asked
 * for. A rank that loses a peer sends {gone, rank}, so that errors name the lost rank, not the
 * first one that ended because of it. */
#ifndef DDP_TRANSPORT_GLOO_LINK_H
#define DDP_TRANSPORT_GLOO_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddp_gloo_link ddp_gloo_link;

/* What went wrong, and with which peer (-1: none). */
typedef struct ddp_gloo_failure {
    int peer;
    char text[256];
} ddp_gloo_failure;

/* All functions but open and close return 1, or 0 and *failure. After that, only close. All but
 * those threads' own work is done on one thread. */

/* connections[p]: the connection with rank p (transport/peer_connections.h), which is Gloo's from
 * here on: it becomes -1. There are `size` of them. From here on the process ignores SIGPIPE. NULL,
 * and *failure, where that cannot be. */
ddp_gloo_link *ddp_gloo_open(int rank, int size, int *connections, ddp_gloo_failure *failure);

/* As of a transport (comm/backend.h). */
int ddp_gloo_reserve(ddp_gloo_link *x, int requests, ddp_gloo_failure *failure);
int ddp_gloo_send(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_recv(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_test(ddp_gloo_link *x, int *ended, int *count, ddp_gloo_failure *failure);

/* Are there requests that have not ended? */
int ddp_gloo_busy(const ddp_gloo_link *x);

/* goodbye_ms > 0: take leave first, and wait so long at most until all others have. The buffers of
 * what has not ended are no longer touched. NULL is allowed. */
void ddp_gloo_close(ddp_gloo_link *x, int64_t goodbye_ms);

#ifdef __cplusplus
}
#endif

#endif
