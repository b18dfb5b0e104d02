/* core/batchnorm_stats.h: combines the running statistics of BatchNorm over ranks. Two of three
 * modes give the statistics that one process would have made of all mini-batches.
 *
 * The forward pass of a mini-batch changes each statistic R to keep*R + c, where c is what the
 * mini-batch adds (Ioffe & Szegedy 2015, section 3.1). A step of S mini-batches changes R_0 to
 *
 *     R = keep^S * R_0 + sum over p of keep^(S-1-p) * c_p
 *
 * p counts the mini-batches of all ranks: rank r of N has p = r*M .. r*M + M-1, M = S/N.
 *
 * DDP_STATISTICS_COPIED copies rank 0's statistics to all ranks. They are of rank 0's mini-batches
 * alone, except with SyncBN, where all ranks have the same.
 *
 * DDP_STATISTICS_SUMMED is right up to rounding, and costs no more than a copy. In a step rank 0's
 * buffers start from R_0, other ranks' from zero, and forward passes update them. Then rank r
 * multiplies its buffers by keep^((N-1-r)*M), and the results are summed over ranks.
 *
 * DDP_STATISTICS_EXACT has the same bits on 1, 2, 4, ... ranks. Each mini-batch starts from zero,
 * which is possible since no pass that trains reads the statistics. A rank adds its mini-batches in
 * the tree of core/tree_sum.h, and the results are summed over ranks.
 *
 * One step (to *fence* a sum is to let work that is queued on the device later find its result):
 *
 *   1. ddp_batchnorm_stats_begin_forward   before each forward pass that trains
 *   2. ddp_batchnorm_stats_begin_step      between the step's first begin_forward and its pass, if
 *                                          call 4 follows in this step
 *   3. ddp_batchnorm_stats_fold_mini_batch after each forward pass
 *   4. ddp_batchnorm_stats_start_sum       after the step's last mini-batch; every rank, in one
 *                                          order with the group's other sums
 *   5. ddp_batchnorm_stats_settle          before the buffers are read; not within a forward pass
 *
 * If the buffers are settled between two mini-batches of a step, with DDP_STATISTICS_EXACT they
 * hold the statistics after the last step. In the other modes they hold what this rank has so far.
 */
#ifndef DDP_CORE_BATCHNORM_STATS_H
#define DDP_CORE_BATCHNORM_STATS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/buffers.h"
#include "core/params.h"

typedef struct ddp_batchnorm_stats ddp_batchnorm_stats;

/* How the statistics of ranks are combined (head of this file). */
typedef enum ddp_batchnorm_stats_mode {
    DDP_STATISTICS_COPIED, /* rank 0's statistics are copied to all ranks */
    DDP_STATISTICS_SUMMED, /* all ranks' mini-batches count; right up to rounding */
    DDP_STATISTICS_EXACT   /* all ranks' mini-batches count; same bits on 1, 2, 4, ... ranks */
} ddp_batchnorm_stats_mode;

/* Move the buffers of table into one block of memory, and copy rank root's values to all ranks.
 * Every rank calls it; may block until all have. Without NCCL it waits for the values. root must be
 * a rank. mini_batches: how many a step has on each rank; with DDP_STATISTICS_EXACT a power of two.
 * *out, set on success, borrows table and group. Fails with DDP_ERR_USAGE (no power of two),
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_open(ddp_batchnorm_stats **out, ddp_group *group,
                                    const ddp_param_table *table, ddp_batchnorm_stats_mode mode,
                                    int mini_batches, int root, ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers, with their values, back into the framework's memory, and free s; NULL is
 * allowed. Unless the group failed, call ddp_batchnorm_stats_settle first, so that the buffers
 * hold the statistics. */
void ddp_batchnorm_stats_close(ddp_batchnorm_stats *s);

/* Tell s which layers an algorithm drops in this step. Their statistics stay as they are.
 * dropped[l]: not 0 if layer l is dropped; copied; the same on every rank, and in all mini-batches
 * of a step. If there is such an algorithm, call after each ddp_batchnorm_stats_begin_forward. */
void ddp_batchnorm_stats_drop_layers(ddp_batchnorm_stats *s, const char *dropped);

/* Prepare the buffers for a forward pass: fence the sum or copy that was started last, if it has no
 * fence yet. Without NCCL this blocks until it has arrived. With DDP_STATISTICS_EXACT, also set the
 * buffers to zero. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_begin_forward(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Begin a step that will end with ddp_batchnorm_stats_start_sum. Call it between the step's first
 * begin_forward and forward pass. With DDP_STATISTICS_SUMMED, it sets the buffers of ranks other
 * than 0 to zero; else it does nothing. Without DDP_STATISTICS_EXACT a step may leave out this
 * call and ddp_batchnorm_stats_start_sum: each rank's buffers then go on by themselves. */
void ddp_batchnorm_stats_begin_step(ddp_batchnorm_stats *s);

/* With DDP_STATISTICS_EXACT, move what a mini-batch has added to the buffers into the tree of sums
 * (core/tree_sum.h); else do nothing. mini_batch: its index in this rank's step, from 0. */
void ddp_batchnorm_stats_fold_mini_batch(ddp_batchnorm_stats *s, int mini_batch);

/* Start the sum of the buffers over ranks; with DDP_STATISTICS_COPIED, the copy of rank 0's. Every
 * rank calls it, after the last mini-batch of a step. Waits only while NCCL first connects ranks.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_start_sum(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum or copy that was started last, if it has no fence yet: work that is queued on the
 * device later finds it in the buffers (ddp_work_fence). Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_fence(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Write the running statistics to the buffers, for code that reads them. First fences the sum or
 * copy that was started last; without NCCL this blocks until it has arrived. Do not call it within
 * a forward pass. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_settle(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* With DDP_STATISTICS_EXACT, return the statistics after the last finished sum, which are the same
 * on all ranks: all buffers, one after the other, on table's device; s owns them. In other modes
 * return NULL. Call between ddp_batchnorm_stats_begin_forward and the next settle. */
const float *ddp_batchnorm_stats_agreed_values(const ddp_batchnorm_stats *s);

/* Return 0 if the last sum or copy is fenced and holds NaN or an infinite number, else 1. The same
 * on every rank. On a GPU call ddp_group_synchronize before, with one rank ddp_device_synchronize.
 * On the host with one rank, call this before the next ddp_batchnorm_stats_begin_forward. */
int ddp_batchnorm_stats_finite(const ddp_batchnorm_stats *s);

/* Keep a copy of the running statistics for ddp_batchnorm_stats_restore_values. Call between
 * ddp_batchnorm_stats_begin_forward and ddp_batchnorm_stats_begin_step. Only the first call
 * allocates; it may fail with DDP_ERR_NOMEM. */
ddp_status ddp_batchnorm_stats_keep_values(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Discard a step: set the running statistics to the last copy of ddp_batchnorm_stats_keep_values,
 * which must have been called. Call it when nothing more of the step will run, and before the next
 * settle. Fences the sum or copy that was started last. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_restore_values(ddp_batchnorm_stats *s,
                                              ddp_error *err) DDP_MUST_CHECK;

#endif
