/* watch/heartbeat.h: short messages between rank 0 and every other rank, beside the process group.
 *
 * A group's messages move only while all ranks work. Here a thread of each rank speaks. A rank
 * whose other threads stand still is heard all the same. One whose process is gone is missed at
 * once.
 *
 * 1. Rank 0 invites (ddp_heartbeat_invite): it listens on its addresses until all ranks have come.
 * 2. The others join (ddp_heartbeat_join) with the key of the invitation, by TCP. A connection
 * without it is refused (base/listener.h). Ranks are trusted after they have come.
 * 3. Both send and poll. A message is a kind and up to DDP_CHANNEL_BYTES bytes, whole or dropped.
 *
 * A channel belongs to one thread. Only ddp_heartbeat_join and ddp_heartbeat_poll wait. */
#ifndef DDP_WATCH_HEARTBEAT_H
#define DDP_WATCH_HEARTBEAT_H

#include "base/listener.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* DDP_CHANNEL_BYTES: most bytes of a message. DDP_INVITED_ADDRESSES: most addresses at which rank 0
 * listens. */
enum { DDP_CHANNEL_BYTES = 32768, DDP_INVITED_ADDRESSES = DDP_LISTENER_SOCKETS };

typedef struct ddp_heartbeat ddp_heartbeat;

/* An invitation: what a rank needs to join. Plain bytes, to be sent as they are. */
typedef struct ddp_heartbeat_address {
    ddp_key key;
    int32_t count;
    ddp_net_address at[DDP_INVITED_ADDRESSES];
} ddp_heartbeat_address;

typedef enum ddp_link {
    DDP_LINK_AWAITED, /* the rank has not come yet */
    DDP_LINK_OPEN,
    DDP_LINK_LOST /* the rank, or the connection to it, is gone */
} ddp_link;

/* On rank 0 of `size`: begin to listen, and fill *invitation for the others. It listens on the
 * network interface that `interface` names. `interface` NULL: with local 1 (all ranks are on one
 * host) on the loopback address alone, with local 0 on each other interface that is up. *out is set
 * on success. Fails with DDP_ERR_IO (no such interface, no socket), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_invite(ddp_heartbeat **out, ddp_heartbeat_address *invitation, int size,
                                int local, const char *interface, ddp_error *err) DDP_MUST_CHECK;

/* On another rank, `rank`: connect with rank 0, by whichever address of the invitation answers
 * first, within wait_ms. *out is set on success. Fails with DDP_ERR_COMM (no address answers: the
 * text names them), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_join(ddp_heartbeat **out, const ddp_heartbeat_address *invitation,
                              int rank, int wait_ms, ddp_error *err) DDP_MUST_CHECK;

void ddp_heartbeat_close(
    ddp_heartbeat *c); /* closes all connections, and frees c; NULL is allowed */

/* Send a message of `count` bytes, at most DDP_CHANNEL_BYTES, to a rank: from rank 0 to any other
 * that has come, from others to rank 0 alone. Callers number the kinds. Does not wait. If the peer
 * does not take the message now, the message waits in a buffer for the next send or poll. If the
 * buffer has no room, the message is dropped. */
void ddp_heartbeat_send(ddp_heartbeat *c, int rank, int kind, const void *bytes, size_t count);

/* Is told of a message from `rank`; bytes[0..count) live for the call. */
typedef void (*ddp_heartbeat_handler)(void *ctx, int rank, int kind, const void *bytes,
                                      size_t count);

/* Wait up to wait_ms for messages, and call handler(ctx, ...) for each that has come. On rank 0,
 * also accept ranks that come. */
void ddp_heartbeat_poll(ddp_heartbeat *c, int wait_ms, ddp_heartbeat_handler handler, void *ctx);

/* Return how the connection with a rank is. On ranks other than 0 only rank 0 has one; for others
 * it is DDP_LINK_LOST. */
ddp_link ddp_heartbeat_link(const ddp_heartbeat *c, int rank);

#endif
