/* core/sync_batchnorm.h: BatchNorm over the mini-batches of all ranks (SyncBN, -ddp_sync_bn).
 *
 * In the forward pass each rank measures the mean of its mini-batch, and the squared distances from
 * it; ddp_sync_batchnorm_join combines those of all ranks. In the backward pass
 * ddp_sync_batchnorm_average averages over ranks the two terms that BatchNorm adds to each delta.
 * The gradients of scales and biases are summed over ranks like all others.
 *
 * Every rank calls these two functions in the same order. Each gathers two floats for each channel
 * from all ranks, and blocks until they have arrived. Every rank computes the same bits from them:
 * in the order of ranks, in double precision. */
#ifndef DDP_CORE_SYNC_BATCHNORM_H
#define DDP_CORE_SYNC_BATCHNORM_H

#include "comm/group.h"

typedef struct ddp_sync_batchnorm ddp_sync_batchnorm;

/* Open the exchange of BatchNorm's statistics over ranks. Sends nothing. group must outlive *out,
 * which is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_sync_batchnorm_open(ddp_sync_batchnorm **out, ddp_group *group,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Free j. NULL is allowed. */
void ddp_sync_batchnorm_close(ddp_sync_batchnorm *j);

/* Replace the statistics of this rank by those of all ranks (Chan, Golub and LeVeque 1979). For
 * each channel c, means[c] is the mean of `count` values, and squares[c] the sum of their squared
 * distances from it. Both are in host memory. count: above 0, the same on all ranks. Every rank
 * calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sync_batchnorm_join(ddp_sync_batchnorm *j, size_t channels, double count,
                                   float *means, float *squares, ddp_error *err) DDP_MUST_CHECK;

/* Replace a[c] and b[c], in host memory, by their means over ranks, for each channel c. Every rank
 * calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sync_batchnorm_average(ddp_sync_batchnorm *j, size_t channels, float *a, float *b,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
