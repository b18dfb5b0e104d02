/* core/sync_batchnorm.h: BatchNorm's statistics over the mini-batches of all ranks (SyncBN).
 *
 * Every rank calls with the same numbers of channels in the same order. Each call gathers a few
 * floats a channel from all ranks, and blocks until they are there. Every rank then computes the
 * same bits from them, in the order of ranks, in double precision.
 *
 * Under -ddp_sync_bn BatchNorm waits in the middle of a pass (net->statistics). Each rank measures
 * mean and squared distances of its mini-batch, and these are joined. In backward, the two terms
 * that BatchNorm adds to each delta are averaged over ranks. Updates of scales and biases stay each
 * rank's, since gradients are summed over ranks anyway. */
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

/* Join the statistics of all ranks, in host memory (Chan, Golub and LeVeque 1979). For each of
 * `channels` channels, means[c] is the mean of count values on this rank, and squares[c] the sum of
 * their squared distances from it. Both become those of all ranks' values together. count: above 0,
 * the same on all ranks. Every rank calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sync_batchnorm_join(ddp_sync_batchnorm *j, size_t channels, double count,
                                   float *means, float *squares, ddp_error *err) DDP_MUST_CHECK;

/* Replace a[c] and b[c], in host memory, by their means over ranks, for each of `channels`
 * channels. Every rank calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sync_batchnorm_average(ddp_sync_batchnorm *j, size_t channels, float *a, float *b,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
