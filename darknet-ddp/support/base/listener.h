/* base/listener.h: TCP sockets that accept only processes that show a key.
 *
 * A process that connects first sends a handshake: a key that was drawn for the job, and a number.
 * The key is compared in constant time, and nothing else is read before. A connection whose
 * handshake is not complete within 5 s is closed. There is room for a fixed number of such pending
 * connections; when it is full, the oldest is closed for the next. Nothing here waits but
 * ddp_listener_connect.
 */
#ifndef DDP_BASE_LISTENER_H
#define DDP_BASE_LISTENER_H

#include "base/net_address.h"
#include "base/status.h"

#include <poll.h>
#include <stdint.h>

enum { DDP_KEY_BYTES = 16, DDP_LISTENER_SOCKETS = 16 };

/* Plain bytes, to be sent as they are. */
typedef struct ddp_key {
    unsigned char bytes[DDP_KEY_BYTES];
} ddp_key;

void ddp_key_draw(ddp_key *key);

typedef struct ddp_listener ddp_listener;

/* Room for so many pending connections at a time. Its key stays what it is now. *out is set on
 * success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_listener_open(ddp_listener **out, const ddp_key *key, int pending,
                             ddp_error *err) DDP_MUST_CHECK;

/* Listen at an address, on a port that the system chooses and *at has afterwards. Fails with
 * DDP_ERR_IO. */
ddp_status ddp_listener_bind(ddp_listener *d, ddp_net_address *at, ddp_error *err) DDP_MUST_CHECK;

/* What to wait for, into fds. Returns how many: ddp_listener_most at most. */
int ddp_listener_wants(const ddp_listener *d, struct pollfd *fds);
int ddp_listener_most(const ddp_listener *d);

/* Returns a connection whose handshake has the key, not blocking and the caller's to close, and in
 * *who the number of the handshake; -1: there is no such connection now. */
int ddp_listener_accept(ddp_listener *d, int32_t *who);

/* Closes pending connections, too. NULL is allowed. */
void ddp_listener_close(ddp_listener *d);

/* What a process sends when it has connected. */
typedef struct ddp_handshake {
    ddp_key key;
    int32_t who;
} ddp_handshake;

/* Connect with a listener that listens at each of `count` addresses (DDP_LISTENER_SOCKETS at most),
 * by the first that answers, within wait_ms, and send the handshake. Returns a descriptor, not
 * blocking, or -1: errno says why. */
int ddp_listener_connect(const ddp_net_address *at, int count, const ddp_handshake *handshake,
                         int wait_ms);

#endif
