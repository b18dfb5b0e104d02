/* comm/collective.h: messages of a collective, of which a group has one under way at a time. For
 * collective.c and others who talk to peers as it does. */
#ifndef DDP_COMM_COLLECTIVE_H
#define DDP_COMM_COLLECTIVE_H

#include "comm/backend.h"

/* Not more than 2 (size-1) at a time. The memory is the message's until ddp_collective_finish. */
ddp_status ddp_collective_send(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);
ddp_status ddp_collective_recv(ddp_group *g, int peer, void *data, size_t bytes, ddp_error *err);

/* Wait for all of them; sums in flight move along. */
ddp_status ddp_collective_finish(ddp_group *g, ddp_error *err);

/* The collective has ended: the next one's messages have another tag. */
void ddp_collective_next(ddp_group *g);

#endif
