/* comm/shared_memory.h: a block of memory that the ranks of a host share.
 *
 * It is a file in memory (memfd). The first rank of a host makes it, and the others open it under
 * /proc/PID/fd of that process. So the limit of /dev/shm, 64 MB in many containers, does not apply,
 * and nothing of it is left when the processes end, even if they are killed. */
#ifndef DDP_COMM_SHARED_MEMORY_H
#define DDP_COMM_SHARED_MEMORY_H

#include "comm/backend.h"

struct ddp_shared_memory;

/* Allocate a block with `bytes` zeroed bytes for each rank of this host, and map it in all of them.
 * Every rank of the group calls it with the same bytes; blocks until all have. *out is set on
 * success. If the ranks of some host cannot share memory, fails with DDP_ERR_USAGE on every rank.
 * Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_shared_memory_open(struct ddp_shared_memory **out, ddp_group *g, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return where the bytes of rank local_rank of this host begin, at a page. They live until m is
 * closed. */
void *ddp_shared_memory_of(const struct ddp_shared_memory *m, int local_rank);

/* Unmap the block in this process, and free m; NULL is allowed. Does not wait. Other ranks may use
 * the block until they close it. */
void ddp_shared_memory_close(struct ddp_shared_memory *m);

#endif
