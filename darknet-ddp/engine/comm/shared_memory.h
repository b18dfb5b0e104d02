/* comm/shared_memory.h: memory that the ranks of each host share.
 *
 * It is a file without a name (memfd). The first rank of a host makes it, and the others find it
 * among that process's open files. So no limit of /dev/shm holds for it (64 MB in a container),
 * nothing of it is left when a process is killed, and freeing it does not block. */
#ifndef DDP_COMM_SHARED_MEMORY_H
#define DDP_COMM_SHARED_MEMORY_H

#include "comm/backend.h"

struct ddp_shared_memory;

/* Allocate `bytes`, the same on every rank, for each rank of this host, all zero. Every rank of the
 * group calls it, and blocks until all have. *out is set on success; it is NULL on every rank if
 * the ranks of some host cannot share memory. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_shared_memory_open(struct ddp_shared_memory **out, ddp_group *g, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return the bytes of a rank of this host; they begin with a page. */
void *ddp_shared_memory_of(const struct ddp_shared_memory *m, int local_rank);

/* NULL is allowed. Nobody may use this rank's bytes any more; other ranks' stay while they use it.
 */
void ddp_shared_memory_close(struct ddp_shared_memory *m);

#endif
