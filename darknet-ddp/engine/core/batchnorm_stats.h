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
 * DDP_STATISTICS_RANKS makes these statistics up to rounding, and costs no more than copying rank
 * 0's (core/buffers.h). Rank 0's buffers go on from R_0, other ranks' from zero, as the framework
 * updates them. Rank r then multiplies its buffers by keep^((N-1-r)*M), and all are summed.
 *
 * One step:
 *
 *   1. ddp_batchnorm_stats_begin_forward   before each forward pass that trains
 *   2. ddp_batchnorm_stats_begin_step      after it, before the first pass of a step that will be
 *                                          summed
 *   3. ddp_batchnorm_stats_fold_mini_batch after each forward pass
 *   4. ddp_batchnorm_stats_start_sum       after the step's last mini-batch; every rank, in one
 *                                          order with the group's other sums
 *   5. ddp_batchnorm_stats_settle          before the buffers are read; not within a forward pass
 *
 * With DDP_STATISTICS_EXACT, buffers that are settled between two mini-batches of a step hold what
 * the last step left. Otherwise they hold what was added so far, another value on each rank. */
#ifndef DDP_CORE_BATCHNORM_STATS_H
#define DDP_CORE_BATCHNORM_STATS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/buffers.h"
#include "core/params.h"

typedef struct ddp_batchnorm_stats ddp_batchnorm_stats;

/* Whose mini-batches the statistics are made of. */
typedef enum ddp_batchnorm_stats_of {
    DDP_STATISTICS_RANK_0, /* rank 0's alone: all ranks have the same (SyncBN), or none are sent */
    DDP_STATISTICS_RANKS,  /* all ranks'; rounded differently on another number of ranks */
    DDP_STATISTICS_EXACT   /* all ranks', with the same bits on any number of them */
} ddp_batchnorm_stats_of;

/* Move the buffers of table into one block of memory, and copy rank root's values to all ranks.
 * Every rank calls it; blocks until the values are there. table and group must outlive *out, which
 * is set on success.
 *
 * mini_batches  how many a step has on each rank; with DDP_STATISTICS_EXACT a power of two
 *
 * Fails with DDP_ERR_USAGE (no power of two), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_open(ddp_batchnorm_stats **out, ddp_group *group,
                                    const ddp_param_table *table, ddp_batchnorm_stats_of of,
                                    int mini_batches, int root, ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers, with what they hold, back into the framework's memory, and free s. Settle
 * first, so that they hold the statistics. NULL is allowed. */
void ddp_batchnorm_stats_close(ddp_batchnorm_stats *s);

/* Have this step leave the buffers of some layers unchanged: an algorithm drops these layers, so
 * that they do not run. Call after each ddp_batchnorm_stats_begin_forward. dropped[l], which is
 * copied: not 0 if layer l is dropped; the same on every rank and in all mini-batches of a step. */
void ddp_batchnorm_stats_drop_layers(ddp_batchnorm_stats *s, const char *dropped);

/* Fence the sum or copy that was started last, if it has no fence yet, so that a forward pass may
 * add to the buffers. Without NCCL this blocks (ddp_work_fence). With DDP_STATISTICS_EXACT, also
 * set the buffers to zero. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_begin_forward(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* With DDP_STATISTICS_RANKS, set the buffers of ranks other than 0 to zero; else do nothing. Call
 * before the first forward pass of a step, if ddp_batchnorm_stats_start_sum will follow its last
 * one. Without both calls each rank's buffers go on with its own mini-batches alone.
 */
void ddp_batchnorm_stats_begin_step(ddp_batchnorm_stats *s);

/* With DDP_STATISTICS_EXACT, add to the tree of sums (core/tree_sum.h) what a mini-batch has added
 * to the buffers. Else do nothing. mini_batch: its index in this rank's step, from 0. */
void ddp_batchnorm_stats_fold_mini_batch(ddp_batchnorm_stats *s, int mini_batch);

/* Start the sum of the buffers over ranks; with DDP_STATISTICS_RANK_0, the copy of rank 0's. Every
 * rank calls it, after the last mini-batch of a step. Does not wait. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_start_sum(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum or copy that was started last, if it has no fence yet: the device's later work
 * finds it in the buffers (ddp_work_fence). Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_fence(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum or copy that was started last, and write the running statistics to the table's
 * buffers. Do not call it within a forward pass. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_settle(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* With DDP_STATISTICS_EXACT, return the statistics on which all ranks already agree: all buffers,
 * one after the other, on table's device, in memory that s owns. Call between
 * ddp_batchnorm_stats_begin_forward and the next settle. NULL otherwise, since ranks other than 0
 * hold partial values. */
const float *ddp_batchnorm_stats_agreed_values(const ddp_batchnorm_stats *s);

/* Return 0 if the last sum or copy has been fenced or settled and holds a number that is not
 * finite. Else 1, also while it is under way. The same on every rank. On a GPU call
 * ddp_group_synchronize first (ddp_work_finite). */
int ddp_batchnorm_stats_finite(const ddp_batchnorm_stats *s);

/* Copy the running statistics aside, for ddp_batchnorm_stats_restore_values. Call after
 * ddp_batchnorm_stats_begin_forward. The first call allocates, and may fail with DDP_ERR_NOMEM. */
ddp_status ddp_batchnorm_stats_keep_values(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Set the running statistics to what ddp_batchnorm_stats_keep_values copied last; it must have been
 * called. Call after a syncing pass, or between a forward pass and its fold. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_restore_values(ddp_batchnorm_stats *s,
                                              ddp_error *err) DDP_MUST_CHECK;

#endif
