/* base/listener.h: TCP sockets that accept only processes that show a key.
 *
 * A process that connects first sends a handshake: a key that was drawn for the job, and a number.
 * The listener compares the key in constant time, and reads nothing else before.
 * ddp_listener_accept closes a connection whose handshake is not complete within 5 s. A fixed
 * number of connections may be pending; when there are as many, the oldest is closed for the next.
 * Only ddp_listener_connect waits. */
#ifndef DDP_BASE_LISTENER_H
#define DDP_BASE_LISTENER_H

#include "base/net_address.h"
#include "base/status.h"

#include <poll.h>
#include <stdint.h>

/* DDP_KEY_BYTES: bytes of a key. DDP_LISTENER_SOCKETS: most addresses at which a listener listens.
 */
enum { DDP_KEY_BYTES = 16, DDP_LISTENER_SOCKETS = 16 };

/* A key: plain bytes, to be sent as they are. */
typedef struct ddp_key {
    unsigned char bytes[DDP_KEY_BYTES];
} ddp_key;

/* Set *key to random bytes. */
void ddp_key_draw(ddp_key *key);

typedef struct ddp_listener ddp_listener;

/* Make a listener that keeps at most `pending` (1 or more) connections whose handshake is not
 * complete. Copies the key. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_listener_open(ddp_listener **out, const ddp_key *key, int pending,
                             ddp_error *err) DDP_MUST_CHECK;

/* Listen at one more address, *at; DDP_LISTENER_SOCKETS at most. The system chooses the port, which
 * is set in *at. Fails with DDP_ERR_IO. */
ddp_status ddp_listener_bind(ddp_listener *d, ddp_net_address *at, ddp_error *err) DDP_MUST_CHECK;

/* Write the sockets that a caller must poll for reading to fds, which has room for
 * ddp_listener_most of them. Returns how many there are. */
int ddp_listener_wants(const ddp_listener *d, struct pollfd *fds);
/* Return how many sockets ddp_listener_wants writes at most. */
int ddp_listener_most(const ddp_listener *d);

/* Accept connections and read what has come, without waiting. Return a connection whose handshake
 * has the key, and set *who to the handshake's number. Return -1 if there is none now; call until
 * then. The caller closes it; reads and writes of it do not block. */
int ddp_listener_accept(ddp_listener *d, int32_t *who);

/* Close all sockets, also those of pending connections, and free d. NULL is allowed. */
void ddp_listener_close(ddp_listener *d);

/* The first bytes that a process sends when it has connected. */
typedef struct ddp_handshake {
    ddp_key key;
    int32_t who;
} ddp_handshake;

/* Connect with a listener and send it the handshake. at[0..count): addresses at which it may
 * listen, DDP_LISTENER_SOCKETS at most. All are tried at once; the first that answers is taken.
 * Waits up to wait_ms. Returns a descriptor that does not block, or -1 with errno set. */
int ddp_listener_connect(const ddp_net_address *at, int count, const ddp_handshake *handshake,
                         int wait_ms);

#endif
