/* core/encoded_sums.h: sums buckets of compressed gradients (core/gradient_codec.h) over ranks.
 *
 * The codec encodes a bucket's gradients as numbers, in memory of their own. A bucket has one or
 * two sums; the codec makes the numbers of the second from the first one's result. Run counts
 * (core/bucket_plan.h) and gradients that are not encoded are in the first sum. If the codec
 * gathers, its numbers travel in an all-gather (comm/work.h) that starts right after the first sum.
 * Each parameter is encoded by itself, whichever others share its bucket.
 *
 * Order. All ranks must start their sums in one order, but a first sum arrives sooner on one rank
 * than on another. So the order is fixed: the first sums of buckets 0 and 1, the second of 0, the
 * first of 2, the second of 1, and so on. A bucket that is ready waits for its turn.
 *
 * On a GPU the codec encodes on a queue of its own (ddp_device_queue_open), which waits for the
 * bucket's gradients and for its first sum. With NCCL the program waits for neither. Without NCCL a
 * first sum must be in host memory before the second can be queued: ddp_reducer_progress looks for
 * that, and ddp_reducer_backward_end waits for the last buckets.
 *
 * A pass that syncs (each name is short for ddp_encoded_sums_...):
 *
 *   1. begin_pass
 *   2. for each bucket, in the launch order: start_first if may_start_first, or skip_bucket
 *   3. in between: start_second if may_start_second
 *   4. for each bucket that was not skipped: fence_bucket, then decode_param for its parameters */
#ifndef DDP_CORE_ENCODED_SUMS_H
#define DDP_CORE_ENCODED_SUMS_H

#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/gradient_codec.h"
#include "core/params.h"

typedef struct ddp_encoded_sums ddp_encoded_sums;

/* Open the sums of a plan's buckets. Every rank calls it; may block until all have. gradients: the
 * memory of all buckets, on table's device. self is the first argument of the codec's functions.
 * All pointers must outlive *out, set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_encoded_sums_open(ddp_encoded_sums **out, ddp_group *group,
                                 const ddp_param_table *table, const ddp_bucket_plan *plan,
                                 float *gradients, const ddp_gradient_codec *codec, void *self,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Free r. NULL is allowed. No sum may be in flight, unless the group failed. */
void ddp_encoded_sums_close(ddp_encoded_sums *r);

/* Begin a pass that syncs. All sums of the last such pass must have been fenced. */
void ddp_encoded_sums_begin_pass(ddp_encoded_sums *r);

/* Return 1 if the next bucket of the launch order may start its first sum. Return 0 while two
 * earlier buckets, also skipped ones, have not had their turn for a second sum. */
int ddp_encoded_sums_may_start_first(const ddp_encoded_sums *r);

/* Encode the next bucket of the launch order, whose gradients and run counts are final. This may
 * overwrite the gradients. Start the bucket's first sum, and its all-gather if any. Waits only as
 * ddp_work_start does. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_encoded_sums_start_first(ddp_encoded_sums *r, size_t bucket,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Skip `bucket`, the next in the launch order, which no rank sends in this pass. */
void ddp_encoded_sums_skip_bucket(ddp_encoded_sums *r, size_t bucket);

/* Return the index, in the plan, of the bucket whose turn for a second sum is next. A bucket
 * without a second sum has a turn, too. After the last turn of the pass, return the plan's
 * bucket_count. */
size_t ddp_encoded_sums_next_second(const ddp_encoded_sums *r);

/* Return 1 if ddp_encoded_sums_start_second may be called now, and would not wait; else 0. */
int ddp_encoded_sums_may_start_second(const ddp_encoded_sums *r);

/* Start the second sum of bucket ddp_encoded_sums_next_second, if it has one. Call after
 * ddp_encoded_sums_may_start_second has returned 1 or, to wait, when the first sums of that bucket
 * and of the next, if any, were started or skipped. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_encoded_sums_start_second(ddp_encoded_sums *r, ddp_error *err) DDP_MUST_CHECK;

/* Fence all sums of a bucket (ddp_work_fence). Call when all of them are started. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_encoded_sums_fence_bucket(ddp_encoded_sums *r, size_t bucket,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Decode the sum over ranks for table->params[i], which is in a bucket, into its gradient. Write
 * its run count to the gradients' bucket. Call at most once in a pass, after the bucket's fence. */
void ddp_encoded_sums_decode_param(ddp_encoded_sums *r, size_t i);

/* Return the bucket's last sum of a pass, started or not; r owns it. It is the second sum or the
 * all-gather, or the first sum if the bucket has neither. */
ddp_work *ddp_encoded_sums_last_sum(const ddp_encoded_sums *r, size_t bucket);

/* Return 1 if a bucket's turn for a second sum is over (ddp_encoded_sums_next_second), and all its
 * sums have ended on this rank; else 0. For a bucket that was not skipped. Moves no data. */
int ddp_encoded_sums_done(const ddp_encoded_sums *r, size_t bucket);

/* Return 1 if all numbers in a bucket's sums are finite, else 0. The same on every rank. Call after
 * the bucket's fence and, on a GPU, after ddp_group_synchronize. */
int ddp_encoded_sums_finite(const ddp_encoded_sums *r, size_t bucket);

/* Return how many floats of a bucket one rank sends, run counts included. */
size_t ddp_encoded_sums_floats(const ddp_encoded_sums *r, size_t bucket);

#endif
