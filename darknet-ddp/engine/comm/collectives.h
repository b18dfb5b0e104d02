/* comm/collectives.h: collectives: calls that every rank makes together, and that block until their
 * data are there. For small or rare data in host memory; gradients travel by comm/work.h. With
 * bytes 0 nothing is sent. */
#ifndef DDP_COMM_COLLECTIVES_H
#define DDP_COMM_COLLECTIVES_H

#include "comm/group.h"

/* Copy buf[0..bytes) of rank root to buf of every rank. Every rank calls it with the same bytes and
 * root; blocks until this rank has the data and may change them. Fails with DDP_ERR_USAGE (root is
 * no rank), DDP_ERR_COMM. */
ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                         ddp_error *err) DDP_MUST_CHECK;

/* Copy buf[0..bytes) of rank `from` to buf of rank `to`. Every rank calls it with the same bytes,
 * from and to. Blocks on these two; on the others it returns at once, and their buf may be NULL.
 * With from == to nothing happens. Fails with DDP_ERR_USAGE (from or to is no rank), DDP_ERR_COMM.
 */
ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                        ddp_error *err) DDP_MUST_CHECK;

/* Copy mine[0..bytes) of each rank r to all[r * bytes .. (r + 1) * bytes) of every rank. mine may
 * lie in `all`. Every rank calls it with the same bytes; blocks until all have. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                         ddp_error *err) DDP_MUST_CHECK;

/* Return mine[0..bytes) of all ranks, one behind the other in the order of ranks, in memory that
 * the caller frees. Every rank calls it with the same bytes; blocks until all have. NULL on
 * failure: DDP_ERR_NOMEM, DDP_ERR_COMM. */
void *ddp_allgather_new(ddp_group *g, const void *mine, size_t bytes, ddp_error *err);

/* Replace each of counts[0..n) by its sum over ranks. Every rank calls it with the same n; blocks.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sum_counts(ddp_group *g, uint64_t *counts, size_t n, ddp_error *err) DDP_MUST_CHECK;

/* Set *holds to 1 if it is 1 on every rank, else to 0. Every rank calls it with 0 or 1; blocks.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM; *holds is then 0. */
ddp_status ddp_holds_on_all(ddp_group *g, int *holds, ddp_error *err) DDP_MUST_CHECK;

/* Put the bytes of all ranks one behind the other, in the order of ranks, on every rank.
 *
 *   mine, bytes  what this rank gives; other ranks may give another number of bytes, also 0
 *   *all         becomes the bytes of all, with a zero byte behind them; the caller frees it, also
 *                on failure
 *   *total       becomes how many they are, without the zero byte
 *
 * Every rank calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_concatenate(ddp_group *g, const void *mine, size_t bytes, void **all, size_t *total,
                           ddp_error *err) DDP_MUST_CHECK;

/* Put the bytes of all ranks one behind the other, as ddp_concatenate does, but on rank 0 alone. On
 * other ranks *all becomes NULL, and *total 0. */
ddp_status ddp_concatenate_on_first(ddp_group *g, const void *mine, size_t bytes, void **all,
                                    size_t *total, ddp_error *err) DDP_MUST_CHECK;

/* Give rank root the bytes of every other rank. Every rank calls it; blocks.
 *
 *   On root         bytes[r] says how many bytes come from rank r, for each rank; they go to data
 *                   one behind the other, in the order of ranks. Room for bytes[root] is left
 *                   there, and not written.
 *   On other ranks  data is what this rank sends, and *bytes how much, as root expects.
 *
 * Fails with DDP_ERR_USAGE (root is no rank), DDP_ERR_COMM. */
ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                      ddp_error *err) DDP_MUST_CHECK;

/* Wait until every rank has called it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_barrier(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

#endif
