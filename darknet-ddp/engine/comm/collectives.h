/* comm/collectives.h: collectives that block: broadcast, all-gather, gather, barrier and the like.
 * Every rank calls them together. For small or rare data in host memory; gradients travel by
 * comm/work.h. Numbers of bytes may be 0.
 *
 * Each may fail with DDP_ERR_NOMEM or DDP_ERR_COMM. The comments below name other errors only. */
#ifndef DDP_COMM_COLLECTIVES_H
#define DDP_COMM_COLLECTIVES_H

#include "comm/group.h"

/* Copy buf[0..bytes) of rank root to buf of every rank. Every rank calls it with the same bytes and
 * root. When it returns, this rank has the data and may change buf. Fails with DDP_ERR_USAGE if
 * root is no rank. */
ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                         ddp_error *err) DDP_MUST_CHECK;

/* Copy buf[0..bytes) of rank `from` to buf of rank `to`. Every rank calls it with the same from and
 * to. It blocks on these two ranks, which pass the same bytes. On the others it returns at once,
 * and looks at neither buf nor bytes. With from == to it does nothing. Fails with DDP_ERR_USAGE if
 * from or to is no rank. */
ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                        ddp_error *err) DDP_MUST_CHECK;

/* Copy mine[0..bytes) of each rank r to all[r * bytes .. (r + 1) * bytes) of every rank. mine may
 * be a part of `all`. Every rank calls it with the same bytes; if not 0, blocks until all have. */
ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                         ddp_error *err) DDP_MUST_CHECK;

/* Return mine[0..bytes) of all ranks in new memory, in the order of ranks; the caller frees it.
 * Every rank calls it with the same bytes; if not 0, blocks until all have. On failure returns NULL
 * and fills *err. */
void *ddp_allgather_new(ddp_group *g, const void *mine, size_t bytes, ddp_error *err);

/* Replace each of counts[0..n) by its sum over all ranks. Every rank calls it with the same n;
 * if not 0, blocks until all have. On failure the counts stay as they were. */
ddp_status ddp_sum_counts(ddp_group *g, uint64_t *counts, size_t n, ddp_error *err) DDP_MUST_CHECK;

/* Set *holds, which is 0 or 1 before, to 1 if it is 1 on every rank, else to 0. Every rank calls
 * it; blocks until all have. On failure *holds becomes 0. */
ddp_status ddp_holds_on_all(ddp_group *g, int *holds, ddp_error *err) DDP_MUST_CHECK;

/* Copy the bytes of all ranks to every rank, concatenated in the order of ranks. Every rank calls
 * it; blocks until all have.
 *
 *   mine, bytes  this rank's bytes; other ranks may have another number of bytes, also 0
 *   *all         becomes the concatenated bytes, with a zero byte behind them; the caller frees it,
 *                also on failure
 *   *total       becomes their number, without the zero byte */
ddp_status ddp_concatenate(ddp_group *g, const void *mine, size_t bytes, void **all, size_t *total,
                           ddp_error *err) DDP_MUST_CHECK;

/* Concatenate the bytes of all ranks on rank 0; parameters are those of ddp_concatenate. On other
 * ranks *all becomes NULL, and *total 0. */
ddp_status ddp_concatenate_on_first(ddp_group *g, const void *mine, size_t bytes, void **all,
                                    size_t *total, ddp_error *err) DDP_MUST_CHECK;

/* Send bytes of every other rank to rank root. Every rank calls it with the same root. Blocks until
 * this rank's bytes have gone, or on root all have come. Fails with DDP_ERR_USAGE if root is no
 * rank.
 *
 *   data   on root: room for the bytes of all ranks, in the order of ranks; root's own place there
 *          is not written. On other ranks: the bytes to send.
 *   bytes  on root: bytes[r] is the length of rank r's place, also of root's own. On other ranks:
 *          *bytes is the length of data, as root has it in bytes[rank]. */
ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                      ddp_error *err) DDP_MUST_CHECK;

/* Wait until every rank has called it. */
ddp_status ddp_barrier(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

#endif
