/* comm/collective.h: collectives made of messages. collectives.c checks arguments, names errors and
 * calls these. Other code may send to peers by the same messages. A group has one collective under
 * way at a time. */
#ifndef DDP_COMM_COLLECTIVE_H
#define DDP_COMM_COLLECTIVE_H

#include "comm/backend.h"

/* These serve the functions of collectives.h in a group of more than one rank, without checking
 * arguments. Here allgather reads this rank's bytes from `all`, never from mine; with 0 bytes it is
 * a barrier. */
ddp_status ddp_collective_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                                    ddp_error *err);
ddp_status ddp_collective_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                                   ddp_error *err);
ddp_status ddp_collective_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                                    ddp_error *err);
ddp_status ddp_collective_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                                 ddp_error *err);

/* Post a message to another rank (send) or from it (recv), without waiting; at most 2 (size - 1) at
 * a time. The data must stay until ddp_collective_finish. Messages from one rank to another match
 * in the order of posting. Fails with DDP_ERR_COMM. */
ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);
ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);

/* Wait for all messages that were posted; sums in flight move along. Fails with DDP_ERR_COMM, also
 * after the group's timeout. */
ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err);

/* End the collective, so that the next one's messages have another tag. Every rank calls it after
 * the last ddp_collective_finish, also one that had no message. */
void ddp_collective_next(ddp_group *g);

#endif
