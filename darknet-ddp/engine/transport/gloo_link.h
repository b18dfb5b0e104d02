/* transport/gloo_link.h: sends and receives messages by Gloo, for transport/gloo.c alone. A C
 * interface; the files behind it (gloo_peer.h) are C++.
 *
 * With Gloo a program can only wait for a message, not ask whether it has come, and a wait that
 * takes too long closes all connections. So each peer has a thread here. It waits for notes of the
 * peer, and for data only if a note has announced them:
 *
 * 1. The sender announces a message by a note, {sent, tag, bytes}.
 * 2. When the receiving rank has posted its receive, too, its thread for that peer waits for the
 *    data.
 * 3. When the data have come, this thread answers {taken, tag, bytes}. That ends the sender's
 *    request.
 *
 * Sending a note never blocks, so answers never queue behind messages that nobody has asked for. A
 * rank that loses a peer sends {gone, rank} to the others, so that their errors name the same
 * rank. */
#ifndef DDP_TRANSPORT_GLOO_LINK_H
#define DDP_TRANSPORT_GLOO_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddp_gloo_link ddp_gloo_link;

typedef struct ddp_gloo_failure {
    int peer;       /* rank whose connection failed; -1: none */
    char text[256]; /* sentence that says what failed */
} ddp_gloo_failure;

/* Call all functions on one thread. A function with a `failure` returns 1 (ddp_gloo_open: a link)
 * on success; else 0 (NULL), with *failure set, and then only ddp_gloo_close may follow. */

/* Open a link of rank `rank` over connections[0..size), descriptors of TCP connections with each
 * rank (transport/peer_connections.h). The link takes them over, and sets each to -1. The process
 * ignores SIGPIPE from then on, unless it handles it. Returns NULL on failure; the caller then
 * still owns the connections that are not -1. */
ddp_gloo_link *ddp_gloo_open(int rank, int size, int *connections, ddp_gloo_failure *failure);

/* ddp_gloo_NAME serves ddp_transport.NAME (comm/backend.h), for reserve, send, recv and test. Does
 * not wait, but a call that fails may take 6 s, in which it learns which rank is the cause. */
int ddp_gloo_reserve(ddp_gloo_link *x, int requests, ddp_gloo_failure *failure);
int ddp_gloo_send(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_recv(ddp_gloo_link *x, int request, int peer, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure);
int ddp_gloo_test(ddp_gloo_link *x, int *ended, int *count, ddp_gloo_failure *failure);

/* Return 1 if some request has not ended or ddp_gloo_test has not returned it yet, else 0. */
int ddp_gloo_busy(const ddp_gloo_link *x);

/* Close x and free it; NULL is allowed. With goodbye_ms above 0, first tell the other ranks that
 * this rank leaves, and wait up to goodbye_ms until all of them leave or are lost. A lost rank may
 * add seconds. Buffers of requests that have not ended are not touched any more. */
void ddp_gloo_close(ddp_gloo_link *x, int64_t goodbye_ms);

#ifdef __cplusplus
}
#endif

#endif
