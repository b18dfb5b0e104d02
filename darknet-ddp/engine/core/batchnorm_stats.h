/* core/batchnorm_stats.h: running statistics as one process would have made them, on any number of
 * ranks, with the same bits.
 *
 * A mini-batch's forward pass keeps a share of each buffer and adds something of its own:
 * R = keep*R + c (Ioffe & Szegedy 2015, section 3.1). After a step of S mini-batches
 *
 *     R = keep^S * R_0 + sum over p of keep^(S-1-p) * c_p
 *
 * p counts the mini-batches of all ranks: rank r of N has p = r*M .. r*M + M-1, M = S/N.
 *
 * DDP_STATISTICS_EXACT: each mini-batch starts from zero (the framework reads statistics in no pass
 * that trains). A rank adds its mini-batches in the tree of core/tree_sum.h, and the results are
 * summed over ranks.
 *
 * DDP_STATISTICS_RANKS makes the same up to rounding, and costs no more than copying rank 0's
 * (core/buffers.h). Rank 0 goes on from R_0, the others from zero, as the framework does it; then
 * what rank r has counts keep^((N-1-r)*M) times.
 *
 * One step:
 *
 *   1. ddp_batchnorm_stats_begin_forward   before each forward pass that trains
 *   2. ddp_batchnorm_stats_begin_step      after it, before the first pass of a step that will be
 *                                          summed
 *   3. ddp_batchnorm_stats_fold_mini_batch after each forward pass
 *   4. ddp_batchnorm_stats_start_sum       after the last one, and after the sums in flight
 *   5. ddp_batchnorm_stats_settle          before the buffers are read; not within a forward pass
 *
 * Between the mini-batches of a step settled buffers hold what the last step left, with
 * DDP_STATISTICS_EXACT. Otherwise they hold what has been added so far, which differs from rank to
 * rank.
 */
#ifndef DDP_CORE_BATCHNORM_STATS_H
#define DDP_CORE_BATCHNORM_STATS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/buffers.h"
#include "core/params.h"

typedef struct ddp_batchnorm_stats ddp_batchnorm_stats;

/* Whose mini-batches the statistics are made of. */
typedef enum ddp_batchnorm_stats_of {
    DDP_STATISTICS_RANK_0, /* rank 0's alone: where all ranks see the same, or nothing is sent */
    DDP_STATISTICS_RANKS,  /* all ranks', up to rounding */
    DDP_STATISTICS_EXACT   /* all ranks', with the same bits on any number of them */
} ddp_batchnorm_stats_of;

/* Move the buffers of table into one piece of memory, and copy rank root's values to all ranks.
 * Blocks until they are there. table and group must outlive it.
 * mini_batches  of a step on each rank; with DDP_STATISTICS_EXACT a power of two
 * *out is set on success. Fails with DDP_ERR_USAGE, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_open(ddp_batchnorm_stats **out, ddp_group *group,
                                    const ddp_param_table *table, ddp_batchnorm_stats_of of,
                                    int mini_batches, int root, ddp_error *err) DDP_MUST_CHECK;

/* Give the buffers back to the framework with what they hold: settle before. NULL is allowed. */
void ddp_batchnorm_stats_close(ddp_batchnorm_stats *s);

/* Keep the buffers of dropped layers (core/reducer.h) as they were before the step. Call after each
 * begin_forward. dropped: an entry for each layer, the same on every rank and in all mini-batches
 * of a step. */
void ddp_batchnorm_stats_drop_layers(ddp_batchnorm_stats *s, const char *dropped);

/* Let the framework add to the buffers, behind the sum that was started (ddp_work_fence). With
 * DDP_STATISTICS_EXACT they are zero then. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_begin_forward(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Begin a step whose last forward pass is followed by start_sum. A step without both leaves each
 * rank with its own statistics. Does nothing but with DDP_STATISTICS_RANKS. */
void ddp_batchnorm_stats_begin_step(ddp_batchnorm_stats *s);

/* Fold what a mini-batch has added. mini_batch: its index in this rank's step, from 0. Does nothing
 * but with DDP_STATISTICS_EXACT. */
void ddp_batchnorm_stats_fold_mini_batch(ddp_batchnorm_stats *s, int mini_batch);

/* After the last mini-batch: start the sum over ranks; with DDP_STATISTICS_RANK_0, the copy of rank
 * 0's buffers to all ranks. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_start_sum(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum: from here on the device finds in the buffers what came (ddp_work_fence). Fails
 * with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_fence(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum, and put the running statistics into the buffers. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_settle(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Between begin_forward and the next settle: return the statistics on which all ranks already
 * agree, all buffers one after the other. Only with DDP_STATISTICS_EXACT; else NULL, since ranks
 * other than 0 hold partial values. */
const float *ddp_batchnorm_stats_agreed_values(const ddp_batchnorm_stats *s);

/* Return 0 if the sum that was started last has been fenced or settled and holds a number that is
 * not finite; else 1, also while it is under way. The same on every rank. */
int ddp_batchnorm_stats_finite(const ddp_batchnorm_stats *s);

/* After begin_forward: remember the running statistics. Fails with DDP_ERR_NOMEM, the first time.
 */
ddp_status ddp_batchnorm_stats_keep_values(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* After a syncing pass, or between a forward pass and its fold: go back to the running statistics
 * that were kept last. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_restore_values(ddp_batchnorm_stats *s,
                                              ddp_error *err) DDP_MUST_CHECK;

#endif
