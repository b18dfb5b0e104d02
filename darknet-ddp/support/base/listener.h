/* base/listener.h: accepts TCP connections only from processes that know a key.
 *
 * 1. One process draws a key, opens a listener and binds it to addresses. The caller brings key and
 *    addresses to the other processes.
 * 2. Another process connects. It first sends a handshake: the key, and a number, such as its rank.
 * 3. ddp_listener_accept compares the key in constant time, and hands over a connection with it.
 *
 * A connection is pending until its handshake is complete. ddp_listener_accept closes one that has
 * been pending for 5 s. It also closes the oldest one if too many are pending. Only
 * ddp_listener_connect waits. */
#ifndef DDP_BASE_LISTENER_H
#define DDP_BASE_LISTENER_H

#include "base/net_address.h"
#include "base/status.h"

#include <poll.h>
#include <stdint.h>

/* DDP_KEY_BYTES: bytes of a key. DDP_LISTENER_SOCKETS: most addresses of a listener. */
enum { DDP_KEY_BYTES = 16, DDP_LISTENER_SOCKETS = 16 };

/* A key: plain bytes, to be sent as they are. */
typedef struct ddp_key {
    unsigned char bytes[DDP_KEY_BYTES];
} ddp_key;

/* Set *key to random bytes. If the system gives none, sets *key to bytes of the clock. */
void ddp_key_draw(ddp_key *key);

typedef struct ddp_listener ddp_listener;

/* Make a listener with at most `pending` (1 or more) pending connections. Copies the key. *out is
 * set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_listener_open(ddp_listener **out, const ddp_key *key, int pending,
                             ddp_error *err) DDP_MUST_CHECK;

/* Listen at one more address, *at; DDP_LISTENER_SOCKETS at most. at->port becomes a free port of
 * ddp_port_range_of_ranks, or if there is no such range, one that the system chooses. Fails with
 * DDP_ERR_IO, also if no port of the range is free. */
ddp_status ddp_listener_bind(ddp_listener *d, ddp_net_address *at, ddp_error *err) DDP_MUST_CHECK;

/* Write d's sockets to fds, for poll: if one can be read, call ddp_listener_accept. fds has room
 * for ddp_listener_most_fds. Returns how many were written. */
int ddp_listener_put_fds(const ddp_listener *d, struct pollfd *fds);
/* Return how many sockets ddp_listener_put_fds writes at most. */
int ddp_listener_most_fds(const ddp_listener *d);

/* Return the descriptor of a connection whose handshake has the key, and set *who to the
 * handshake's number; -1: there is none yet. Does not wait. Call whenever a socket can be read,
 * until it returns -1. The caller closes the connection, whose reads and writes do not block. */
int ddp_listener_accept(ddp_listener *d, int32_t *who);

/* Close all sockets, also those of pending connections, and free d. NULL is allowed. */
void ddp_listener_close(ddp_listener *d);

/* The first bytes that a process sends when it has connected. */
typedef struct ddp_handshake {
    ddp_key key;
    int32_t who;
} ddp_handshake;

/* Connect with a listener and send it the handshake. Tries all its addresses, at[0..count), at once
 * and takes the first that answers; count is 1 to DDP_LISTENER_SOCKETS. Waits up to wait_ms.
 * Returns a descriptor that does not block, which the caller closes; -1 with errno set if that
 * fails. Does not wait for ddp_listener_accept, which may yet refuse the key. */
int ddp_listener_connect(const ddp_net_address *at, int count, const ddp_handshake *handshake,
                         int wait_ms);

#endif
