/* transport/gloo_link.h: Gloo's messages, for transport/gloo.c alone, in C.
 *
 * The files behind it (gloo_peer.h) are our only ones in C++. Gloo's exceptions end there.
 *
 * Gloo moves messages on a thread of its own, and matches them by a number (its "slot"). A program
 * can only wait for an operation, and a wait that takes too long closes all connections. So a
 * thread for each peer waits here, and never for anything that a rank's program has still to do:
 *
 * 1. The sender announces a message by a note, {sent, tag, bytes}.
 * 2. Once the receiver has asked for it, the receiver's thread for that peer waits for the data.
 *    They are under way by then, because Gloo has both buffers.
 * 3. When they have come, the thread answers {taken, tag, bytes}. That ends the sender's request.
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

/* A failure: the rank with which it arose (-1: none), and a sentence. */
typedef struct ddp_gloo_failure {
    int peer;
    char text[256];
} ddp_gloo_failure;

/* Functions return 1, or 0 with *failure set, where nothing else is said. After a 0 only
 * ddp_gloo_close may follow. Call all of them on one thread. */

/* Open a link of rank `rank` over connections[0..size): the connection with each rank, -1 for this
 * one (transport/peer_connections.h). Gloo takes them over, and each becomes -1. The process
 * ignores SIGPIPE afterwards, unless it handles it. Returns NULL, with *failure set, on failure;
 * connections that were not taken over then are still the caller's. */
ddp_gloo_link *ddp_gloo_open(int rank, int size, int *connections, ddp_gloo_failure *failure);

/* These serve reserve, send, recv and test of ddp_transport (comm/backend.h). None of them waits,
 * except that one that fails may take 6 s to learn which rank is the cause. */
int ddp_gloo_reserve(ddp_gloo_link *x, int requests, ddp_gloo_failure *failure);
int ddp_gloo_send(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_recv(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_test(ddp_gloo_link *x, int *ended, int *count, ddp_gloo_failure *failure);

/* Return 1 if some request has not ended, else 0. */
int ddp_gloo_busy(const ddp_gloo_link *x);

/* Close x and free it. With goodbye_ms above 0 first tell all others that this rank leaves, and
 * wait, goodbye_ms at most, until all have said so or are gone. Afterwards buffers of requests that
 * have not ended are not touched. NULL is allowed. */
void ddp_gloo_close(ddp_gloo_link *x, int64_t goodbye_ms);

#ifdef __cplusplus
}
#endif

#endif
