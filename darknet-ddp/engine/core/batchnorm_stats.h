/* core/batchnorm_stats.h: running statistics as one process would have made them, on any
 * number of ranks, with the same bits.
 *
 * A mini-batch's forward pass keeps a part of each buffer and adds something of its own:
 * R = keep*R + c (Ioffe & Szegedy 2015, section 3.1). After a step of S mini-batches
 *
 *     R = keep^S * R_0 + sum over p of keep^(S-1-p) * c_p
 *
 * p counts the mini-batches of all ranks: rank r of N has p = r*M .. r*M + M-1, M = S/N. So each
 * mini-batch starts from zero (the framework reads statistics in no pass that trains). A rank adds
 * its mini-batches in the tree of core/tree_sum.h, and the results are then summed over ranks.
 *
 * DDP_STATISTICS_RANKS makes the same up to rounding, and costs no more than copying
 * rank 0's (core/buffers.h). Rank 0 goes on from R_0, the others from zero, each mini-batch
 * by mini-batch as the framework does it; then rank r counts keep^((N-1-r)*M) times.
 *
 * One step, as its caller sees it:
 *
 *   ddp_batchnorm_stats_begin_forward(s)        before each forward pass that trains
 *   ddp_batchnorm_stats_begin_step(s)   after it, before the first of a step that ends in a start
 *   ddp_batchnorm_stats_fold_mini_batch(s, mini_batch)   after it
 *   ddp_batchnorm_stats_start_sum(s)        after the last one, and after the sums in flight
 *   ddp_batchnorm_stats_settle(s)       before the buffers are read; any time but in
 *                                  such a forward pass
 *
 * Between the mini-batches of a step, settled buffers hold what the last step left, with
 * DDP_STATISTICS_EXACT; otherwise they hold what has been added so far, which differs from rank to
 * rank.
 */
#ifndef DDP_CORE_BATCHNORM_STATS_H
#define DDP_CORE_BATCHNORM_STATS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/buffers.h"
#include "core/params.h"

typedef struct ddp_batchnorm_stats ddp_batchnorm_stats;

/* Whose mini-batches they are made of. */
typedef enum ddp_batchnorm_stats_of {
    DDP_STATISTICS_RANK_0, /* rank 0's alone: where all ranks see the same, or nothing is sent */
    DDP_STATISTICS_RANKS,  /* all ranks', up to rounding */
    DDP_STATISTICS_EXACT   /* all ranks', with the same bits on any number of them */
} ddp_batchnorm_stats_of;

/* Take over the buffers of table and copy rank 0's values of them to all ranks. Blocks
 * until they are there. table and group must outlive it.
 * mini_batches  of a step on each rank; with DDP_STATISTICS_EXACT a power of two
 * *out is set on success. Fails with DDP_ERR_USAGE, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_open(ddp_batchnorm_stats **out, ddp_group *group,
                                    const ddp_param_table *table, ddp_batchnorm_stats_of of,
                                    int mini_batches, int root, ddp_error *err) DDP_MUST_CHECK;

/* Give the buffers back to the framework with what they hold: settle before. NULL is
 * allowed. */
void ddp_batchnorm_stats_close(ddp_batchnorm_stats *s);

/* After each begin, where layers are left out (core/reducer.h), the same on every rank and in all
 * mini-batches of a step: the buffers of these layers, a value for each of the network's, are what
 * they were before the step. */
void ddp_batchnorm_stats_drop_layers(ddp_batchnorm_stats *s, const char *dropped);

/* The framework may add to the buffers, which are zero now with DDP_STATISTICS_EXACT, behind what
 * was started (ddp_work_fence). Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_begin_forward(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* After begin, before a step's first forward pass: start is going to follow its last one. A step
 * without that, and without start, leaves each rank with its own statistics. Only
 * DDP_STATISTICS_RANKS wants to know. */
void ddp_batchnorm_stats_begin_step(ddp_batchnorm_stats *s);

/* mini_batch 0..mini_batches-1 of this rank's step has been added. Does nothing but with
 * DDP_STATISTICS_EXACT. */
void ddp_batchnorm_stats_fold_mini_batch(ddp_batchnorm_stats *s, int mini_batch);

/* After the last mini-batch: start to make them alike. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_start_sum(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* From here on the device finds in the buffers what was started, as it came
 * (ddp_work_fence). Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_fence(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* From here on the device finds in the buffers the running statistics after what was started
 * (ddp_work_fence).
 * Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_settle(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* Between begin and the next settle: what the running statistics are that all ranks have alike for
 * good, all buffers one after the other. NULL but with DDP_STATISTICS_EXACT: what ranks beside 0
 * have of them is of no use, and goes with the next step. */
const float *ddp_batchnorm_stats_agreed_values(const ddp_batchnorm_stats *s);

/* Was what was last started and has arrived finite? The same on every rank; 1 where nothing was
 * ever started. */
int ddp_batchnorm_stats_finite(const ddp_batchnorm_stats *s);

/* After begin: remember the running statistics. Fails with DDP_ERR_NOMEM, the first time. */
ddp_status ddp_batchnorm_stats_keep_values(ddp_batchnorm_stats *s, ddp_error *err) DDP_MUST_CHECK;

/* After a syncing pass, or between a forward pass and its fold: have the running statistics be
 * again what they were when they were last kept. Fails with DDP_ERR_COMM. */
ddp_status ddp_batchnorm_stats_restore_values(ddp_batchnorm_stats *s,
                                              ddp_error *err) DDP_MUST_CHECK;

#endif
