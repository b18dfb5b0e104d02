/* comm/collective.h: collectives made of messages: what is under the functions of collectives.c,
 * which check arguments and name errors; and these messages, for other code that sends to peers in
 * the same way. A group has one collective under way at a time. */
#ifndef DDP_COMM_COLLECTIVE_H
#define DDP_COMM_COLLECTIVE_H

#include "comm/backend.h"

/* As those of collectives.h, in a group of more than one rank. bytes may be 0 in allgather, which
 * is then a barrier. */
ddp_status ddp_collective_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                                    ddp_error *err);
ddp_status ddp_collective_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                                   ddp_error *err);
ddp_status ddp_collective_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                                    ddp_error *err);
ddp_status ddp_collective_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                                 ddp_error *err);

/* Not more than 2 (size-1) at a time. The memory is the message's until ddp_collective_finish. */
ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);
ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);

/* Wait for all of them; sums in flight move along. */
ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err);

/* The collective has ended: the next one's messages have another tag. */
void ddp_collective_next(ddp_group *g);

#endif
