/* comm/collective.h: collectives that are made of a transport's messages. Other code can make its
 * own from such messages, as comm/shared_memory.c does. One collective is under way at a time.
 * Programs use comm/collectives.h, which checks arguments and then calls these. */
#ifndef DDP_COMM_COLLECTIVE_H
#define DDP_COMM_COLLECTIVE_H

#include "comm/backend.h"

/* Do what ddp_NAME (comm/collectives.h) does, in a group of more than one rank, without checking
 * arguments or keeping a failure in g. For allgather this rank's bytes are in `all` already; an
 * all-gather of 0 bytes is a barrier, and `all` may be NULL. */
ddp_status ddp_collective_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                                    ddp_error *err);
ddp_status ddp_collective_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                                   ddp_error *err);
ddp_status ddp_collective_allgather(ddp_group *g, void *all, size_t bytes, ddp_error *err);
ddp_status ddp_collective_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                                 ddp_error *err);

/* Post a message of up to INT_MAX bytes to another rank (send) or from it (recv), without waiting.
 * At most 2 (size - 1) are posted at a time. The data must stay until ddp_collective_finish.
 * Messages from one rank to another match in the order of posting. Fails with DDP_ERR_COMM. */
ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);
ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);

/* Wait until all posted messages of the collective have ended. Sums in flight move along meanwhile.
 * Fails with DDP_ERR_COMM, also after the group's timeout, and with DDP_ERR_NOMEM. */
ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err);

/* End the collective, so that messages of the next one have another tag. Every rank calls it after
 * its last ddp_collective_finish, also a rank that had no message. */
void ddp_collective_next(ddp_group *g);

#endif
