/* comm/host_memory.h: memory for sums that the ranks of a host share, so that a rank can sum the
 * values of all these ranks without a copy.
 *
 * A rank's memory is its own except while a sum of it is in flight. A rank tells the others where
 * its buffer lies by a number that is valid on each of them. */
#ifndef DDP_COMM_HOST_MEMORY_H
#define DDP_COMM_HOST_MEMORY_H

#include "comm/backend.h"

/* Allocate `bytes` of zeroed memory for this rank, which the other ranks of its host see, too.
 * Every rank calls it with the same bytes, in the same order; blocks until all have. *x becomes
 * NULL, without an error, on every rank if the ranks of some host cannot share memory. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_host_memory_alloc(ddp_group *g, void **x, size_t bytes,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Free x and return 1, if x came from ddp_host_memory_alloc of g; else return 0. Not while a sum of
 * x is in flight. Other ranks need not free theirs. */
int ddp_host_memory_free(ddp_group *g, const void *x);

/* Return a number that tells any rank of this host where x[0..bytes) of this rank lies
 * (ddp_host_memory_at); 0: not in memory of ddp_host_memory_alloc. */
uint64_t ddp_host_memory_place(const ddp_group *g, const void *x, size_t bytes);

/* Return where memory of another rank of this host lies in this process. place: the number that
 * ddp_host_memory_place returned on that rank. NULL: it is not known. */
void *ddp_host_memory_at(const ddp_group *g, int local_rank, uint64_t place);

/* Free all memory of ddp_host_memory_alloc that is left. */
void ddp_host_memory_close(ddp_group *g);

#endif
