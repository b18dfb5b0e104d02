/* watch/heartbeat.h: short messages between rank 0 and every other rank, beside the process group.
 *
 * A group's messages move only while all ranks work. Here a thread of each rank speaks, so a rank
 * whose other threads stand still is heard all the same, and one whose process is gone is missed at
 * once. TCP; each message is a kind and up to DDP_CHANNEL_BYTES bytes, whole or not at all. Rank 0
 * listens until all ranks have come, on the addresses that it invited them to, and then no more; a
 * connection that does not begin with the key of the invitation is refused (base/listener.h). Ranks
 * are trusted once they have come.
 *
 * A channel belongs to one thread. Nothing here waits but ddp_heartbeat_join and
 * ddp_heartbeat_poll.
 */
#ifndef DDP_WATCH_HEARTBEAT_H
#define DDP_WATCH_HEARTBEAT_H

#include "base/listener.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { DDP_CHANNEL_BYTES = 32768, DDP_INVITED_ADDRESSES = DDP_LISTENER_SOCKETS };

typedef struct ddp_heartbeat ddp_heartbeat;

/* What a rank must know to come. Plain bytes, to be sent as they are. */
typedef struct ddp_heartbeat_address {
    ddp_key key;
    int32_t count;
    ddp_net_address at[DDP_INVITED_ADDRESSES];
} ddp_heartbeat_address;

typedef enum ddp_link {
    DDP_LINK_AWAITED, /* has not come yet */
    DDP_LINK_OPEN,
    DDP_LINK_LOST /* its end, or what is between, is gone */
} ddp_link;

/* Rank 0: begin to listen. local: on the loopback address alone, for ranks of one host; else on
 * that of each network interface that is up, or on one, by its name or its network (NULL: all).
 * *out is set on success. Fails with DDP_ERR_IO (no such interface, no socket), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_invite(ddp_heartbeat **out, ddp_heartbeat_address *invitation, int size,
                                int local, const char *interface, ddp_error *err) DDP_MUST_CHECK;

/* Another rank: come, by the first address that answers, within wait_ms. *out is set on success.
 * Fails with DDP_ERR_COMM (no address answers: the text names them), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_join(ddp_heartbeat **out, const ddp_heartbeat_address *invitation,
                              int rank, int wait_ms, ddp_error *err) DDP_MUST_CHECK;

void ddp_heartbeat_close(ddp_heartbeat *c); /* NULL is allowed */

/* Send to a rank: rank 0 to any other that has come, others to rank 0. What a peer does not take
 * is dropped: a message is for the moment. */
void ddp_heartbeat_send(ddp_heartbeat *c, int rank, int kind, const void *bytes, size_t count);

typedef void (*ddp_heartbeat_handler)(void *ctx, int rank, int kind, const void *bytes,
                                      size_t count);

/* Take what has come, waiting up to wait_ms for something. */
void ddp_heartbeat_poll(ddp_heartbeat *c, int wait_ms, ddp_heartbeat_handler handler, void *ctx);

ddp_link ddp_heartbeat_link(const ddp_heartbeat *c, int rank);

#endif
