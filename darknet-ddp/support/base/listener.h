/* base/listener.h: TCP sockets that only who shows a key comes through.
 *
 * Whoever comes says first who it is: a key that was drawn for the job, and a number. The key is
 * compared in a time that tells nothing of it, and nothing else is read before. Who has not said
 * all of that within 5 s has to leave; there is room for a fixed number of such guests, and where
 * it is taken, the one that has been there longest leaves for the next. Nothing here waits but
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

/* Room for so many guests at a time. Its key stays what it is now. *out is set on success. Fails
 * with DDP_ERR_NOMEM. */
ddp_status ddp_listener_open(ddp_listener **out, const ddp_key *key, int pending,
                             ddp_error *err) DDP_MUST_CHECK;

/* Listen at an address, on a port that the system chooses and *at has afterwards. Fails with
 * DDP_ERR_IO. */
ddp_status ddp_listener_bind(ddp_listener *d, ddp_net_address *at, ddp_error *err) DDP_MUST_CHECK;

/* What to wait for, into fds. Returns how many: ddp_listener_most at most. */
int ddp_listener_wants(const ddp_listener *d, struct pollfd *fds);
int ddp_listener_most(const ddp_listener *d);

/* A connection of one who showed the key, not blocking and the caller's to close, and in *who the
 * number that it gave; -1: there is none now. */
int ddp_listener_accept(ddp_listener *d, int32_t *who);

/* Guests have to leave. NULL is allowed. */
void ddp_listener_close(ddp_listener *d);

/* What a guest says. */
typedef struct ddp_handshake {
    ddp_key key;
    int32_t who;
} ddp_handshake;

/* Connect with a listener that listens at each of `count` addresses (DDP_LISTENER_SOCKETS at most),
 * by the first that answers, within wait_ms, and say who comes. Returns a descriptor, not blocking,
 * or -1: errno says why. */
int ddp_listener_connect(const ddp_net_address *at, int count, const ddp_handshake *handshake,
                         int wait_ms);

#endif
