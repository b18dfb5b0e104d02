/* comm/shared_memory.h: memory that the ranks of each host share.
 *
 * It is a file without a name (memfd). The first rank of a host makes it, and the others find it
 * among that process's open files. So no limit of /dev/shm holds for it (64 MB in a container),
 * nothing of it is left when a process is killed, and freeing it does not block. */
#ifndef DDP_COMM_SHARED_MEMORY_H
#define DDP_COMM_SHARED_MEMORY_H

#include "comm/backend.h"

struct ddp_shared_memory;

/* Allocate `bytes`, all zero, for each rank of this host, in one block that all of them map. Every
 * rank of the group calls it with the same bytes; blocks until all have. *out is set on success.
 * Fails on every rank with DDP_ERR_USAGE if the ranks of some host cannot share memory. Fails also
 * with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_shared_memory_open(struct ddp_shared_memory **out, ddp_group *g, size_t bytes,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Return where the bytes of a rank of this host begin, at a page; they live until m is closed. */
void *ddp_shared_memory_of(const struct ddp_shared_memory *m, int local_rank);

/* Unmap the block and free m. NULL is allowed. This rank must not use the block any more; other
 * ranks may, until they close it. */
void ddp_shared_memory_close(struct ddp_shared_memory *m);

#endif
