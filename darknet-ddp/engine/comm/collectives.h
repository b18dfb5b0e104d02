/* comm/collectives.h: collectives that block, for what is said once or seldom. */
#ifndef DDP_COMM_COLLECTIVES_H
#define DDP_COMM_COLLECTIVES_H

#include "comm/group.h"

/* Copy buf[0..bytes) of rank root to every rank. Blocks.
 * Fails with DDP_ERR_USAGE (root is no rank), DDP_ERR_COMM. */
ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                         ddp_error *err) DDP_MUST_CHECK;

/* Copy buf[0..bytes) of rank from to rank to. Every rank calls it, with the same bytes, from and
 * to; it blocks these two, which may have to wait for what the other does first, and only counts on
 * the others, whose buf may be NULL. Fails as ddp_broadcast. */
ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                        ddp_error *err) DDP_MUST_CHECK;

/* all[r * bytes .. (r + 1) * bytes) becomes rank r's mine[0..bytes). Blocks. */
ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                         ddp_error *err) DDP_MUST_CHECK;

/* Rank root gets what each other rank has: bytes[r] of rank r, one behind the other in the order
 * of ranks, to data, where its own bytes[root] are left as they are. On another rank data is what
 * it has, and bytes points to how much. What it has and what root expects of it must be the same.
 * Blocks until it is there. Fails as ddp_broadcast. */
ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                      ddp_error *err) DDP_MUST_CHECK;

/* Returns on no rank before every rank has called it. */
ddp_status ddp_barrier(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

#endif
