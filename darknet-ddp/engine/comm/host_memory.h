/* comm/host_memory.h: memory for sums that the ranks of a host share, so that each can sum its part
 * of all of theirs where these lie.
 *
 * A rank's memory is its own except while a sum of it is in flight. A rank tells the others where
 * its buffer lies by a number that is valid on each of them. */
#ifndef DDP_COMM_HOST_MEMORY_H
#define DDP_COMM_HOST_MEMORY_H

#include "comm/backend.h"

/* Allocate `bytes` of zeroed memory for this rank. Every rank calls it with the same bytes, in the
 * same order, and blocks until all have. *x is NULL on every rank if the ranks of some host cannot
 * share memory. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_host_memory_alloc(ddp_group *g, void **x, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Free x and return 1, if x is such memory; else return 0. No sum of it may be in flight. */
int ddp_host_memory_free(ddp_group *g, const void *x);

/* Return where this rank has x[0..bytes), as a number for any rank of its host; 0: in no such
 * memory. */
uint64_t ddp_host_memory_place(const ddp_group *g, const void *x, size_t bytes);

/* Return where the memory lies here that a rank of this host has at such a place of its own. NULL:
 * no such memory is known. */
void *ddp_host_memory_at(const ddp_group *g, int local_rank, uint64_t place);

/* Free all of it that is left. */
void ddp_host_memory_close(ddp_group *g);

#endif
