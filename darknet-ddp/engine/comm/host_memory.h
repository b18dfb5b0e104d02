/* comm/host_memory.h: memory that the ranks of a host share, for gradients and other arrays that
 * are summed. A rank can sum the values of all these ranks without a copy.
 *
 * A rank uses its memory alone, except while a sum of it is in flight. It tells the other ranks
 * where in this memory a buffer lies by a number, the buffer's `place`. */
#ifndef DDP_COMM_HOST_MEMORY_H
#define DDP_COMM_HOST_MEMORY_H

#include "comm/backend.h"

/* Allocate `bytes` of zeroed memory for this rank, which the other ranks of its host can read and
 * write, too. Every rank calls it with the same bytes, in the same order; blocks until all have. If
 * the ranks of some host cannot share memory, *x becomes NULL on every rank, without an error.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_host_memory_alloc(ddp_group *g, void **x, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Free x and return 1 if x came from ddp_host_memory_alloc of g; else return 0. No sum of x may be
 * in flight. Other ranks' memory of the same call stays, but can no longer be summed. */
int ddp_host_memory_free(ddp_group *g, const void *x);

/* Return the place of this rank's x[0..bytes), a number by which any rank of this host finds this
 * memory (ddp_host_memory_at). Returns 0 if x[0..bytes) is not within one allocation. */
uint64_t ddp_host_memory_place(const ddp_group *g, const void *x, size_t bytes);

/* Return the address in this process of memory of rank local_rank of this host. place: the number,
 * not 0, that ddp_host_memory_place returned there. NULL: this process has freed that memory. */
void *ddp_host_memory_at(const ddp_group *g, int local_rank, uint64_t place);

/* Free all memory of ddp_host_memory_alloc of g that was not freed. */
void ddp_host_memory_close(ddp_group *g);

#endif
