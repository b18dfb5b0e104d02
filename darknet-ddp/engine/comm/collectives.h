/* comm/collectives.h: collectives that block, for what is said once or seldom. */
#ifndef DDP_COMM_COLLECTIVES_H
#define DDP_COMM_COLLECTIVES_H

#include "comm/group.h"

/* Copy buf[0..bytes) of rank root to every rank. Blocks.
 * Fails with DDP_ERR_USAGE (root is no rank), DDP_ERR_COMM. */
ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                         ddp_error *err) DDP_MUST_CHECK;

/* Copy buf[0..bytes) of rank `from` to rank `to`. Every rank calls it with the same bytes, from and
 * to. It blocks these two; the others only count it, and their buf may be NULL. Fails as
 * ddp_broadcast. */
ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                        ddp_error *err) DDP_MUST_CHECK;

/* Copy mine[0..bytes) of each rank r to all[r * bytes .. (r + 1) * bytes) of every rank. Blocks. */
ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                         ddp_error *err) DDP_MUST_CHECK;

/* Give rank root the bytes of every other rank. On root, bytes[r] says how many rank r has. They go
 * to data one behind the other, in the order of ranks; root's own place is left as it is. On
 * another rank, data is what it has, and *bytes how much; root must expect as much. Blocks until it
 * is there. Fails as ddp_broadcast. */
ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                      ddp_error *err) DDP_MUST_CHECK;

/* Wait until every rank has called it. */
ddp_status ddp_barrier(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

#endif
