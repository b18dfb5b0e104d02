/* watch/heartbeat.h: sends messages between rank 0 and every other rank, over TCP.
 *
 * A thread of each rank sends and receives the messages, apart from the process group. So rank 0
 * still hears a rank whose other threads hang, and sees at once if its process ends.
 *
 * 1. On rank 0 ddp_heartbeat_invite begins to listen, and makes an invitation. The caller sends it
 *    to the other ranks, by the process group.
 * 2. On each other rank ddp_heartbeat_join connects with rank 0, which accepts only those who know
 *    the key of the invitation (base/listener.h).
 * 3. Both sides send and poll. A message is a kind and up to DDP_CHANNEL_BYTES bytes. It arrives
 *    whole or not at all.
 *
 * One thread at a time may use a channel. Only ddp_heartbeat_join and ddp_heartbeat_poll wait. */
#ifndef DDP_WATCH_HEARTBEAT_H
#define DDP_WATCH_HEARTBEAT_H

#include "base/listener.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { DDP_CHANNEL_BYTES = 32768 }; /* most bytes of a message */

/* A channel: on rank 0 its connections with all other ranks; elsewhere the one with rank 0. */
typedef struct ddp_heartbeat ddp_heartbeat;

/* All that a rank needs to join. Plain bytes, to be sent as they are. */
typedef struct ddp_heartbeat_invitation {
    ddp_key key;
    int32_t count;
    ddp_net_address at[DDP_LISTENER_SOCKETS]; /* at[0..count): addresses at which rank 0 listens */
} ddp_heartbeat_invitation;

typedef enum ddp_link {
    DDP_LINK_AWAITED, /* the rank has not joined yet */
    DDP_LINK_OPEN,
    DDP_LINK_LOST /* the rank's process, or the connection with it, has ended */
} ddp_link;

/* On rank 0 of `size` ranks: begin to listen, and fill *invitation for the others.
 *   interface   network interface on which to listen, or its network ("10.1.0.0/16"); NULL: those
 *               that `local` names
 *   local       1: all ranks are on one host, listen on its loopback address; 0: listen on the
 *               other interfaces that are up
 * *out is set on success. Fails with DDP_ERR_IO (no such interface, no socket), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_invite(ddp_heartbeat **out, ddp_heartbeat_invitation *invitation, int size,
                                int local, const char *interface, ddp_error *err) DDP_MUST_CHECK;

/* On rank `rank`, which is not 0: connect with rank 0, at the address of the invitation that
 * answers first. Waits up to wait_ms. *out is set on success. Fails with DDP_ERR_COMM (no address
 * answers; the text names some), DDP_ERR_NOMEM. */
ddp_status ddp_heartbeat_join(ddp_heartbeat **out, const ddp_heartbeat_invitation *invitation,
                              int rank, int wait_ms, ddp_error *err) DDP_MUST_CHECK;

/* Close all connections, drop unsent messages, and free c; NULL is allowed. */
void ddp_heartbeat_close(ddp_heartbeat *c);

/* Send bytes[0..count), at most DDP_CHANNEL_BYTES, as a message to `rank`. kind: any number. Does
 * not wait: what the system does not take now stays in a buffer until the next send or poll.
 * Drops the message, without an error, if the buffer is full or there is no open connection with
 * `rank`. */
void ddp_heartbeat_send(ddp_heartbeat *c, int rank, int kind, const void *bytes, size_t count);

/* Handles a message of this kind from `rank`. bytes[0..count) are valid until it returns. It must
 * not use the channel. */
typedef void (*ddp_heartbeat_handler)(void *ctx, int rank, int kind, const void *bytes,
                                      size_t count);

/* Wait up to wait_ms for messages, and call handler(ctx, ...) for each that has come. On rank 0,
 * also accept ranks that join. */
void ddp_heartbeat_poll(ddp_heartbeat *c, int wait_ms, ddp_heartbeat_handler handler, void *ctx);

/* Return the state of the connection with `rank`. Between two ranks other than 0 there is none:
 * DDP_LINK_LOST. */
ddp_link ddp_heartbeat_link(const ddp_heartbeat *c, int rank);

#endif
