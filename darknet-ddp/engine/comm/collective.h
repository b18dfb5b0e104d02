/* comm/collective.h: collectives made of messages. collectives.c checks arguments, names errors and
 * calls these. Other code may send to peers by the same messages. A group has one collective under
 * way at a time. */
#ifndef DDP_COMM_COLLECTIVE_H
#define DDP_COMM_COLLECTIVE_H

#include "comm/backend.h"

/* Do what the functions of collectives.h do, in a group of more than one rank. allgather of 0 bytes
 * is a barrier. */
ddp_status ddp_collective_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                                    ddp_error *err);
ddp_status ddp_collective_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                                   ddp_error *err);
ddp_status ddp_collective_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                                    ddp_error *err);
ddp_status ddp_collective_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                                 ddp_error *err);

/* Post a message, at most 2 (size-1) at a time. data is the message's until ddp_collective_finish.
 */
ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);
ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);

/* Wait for all messages that were posted; sums in flight move along. */
ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err);

/* End the collective, so that the messages of the next one have another tag. */
void ddp_collective_next(ddp_group *g);

#endif
