/* core/rounds.h: sums of buckets that a plug has encoded (core/sum_plug.h): one or two sums for
 * each bucket, the second made of the first one's result.
 *
 * These sums have memory of their own. Run counts, and parameters that the plug does not encode, go
 * in the first sum as they are. Buckets change no result: each parameter is encoded by itself, and
 * each number has the one order of summation of comm/work.h.
 *
 * Order. Sums must start in one order on every rank, but when a first sum arrives is a matter of
 * chance. So the order is fixed: the first sums of buckets 0 and 1, the second of 0, the first of
 * 2, the second of 1, and so on. A full bucket waits for its turn. So two buckets are under way
 * while backward computes on.
 *
 * On a GPU numbers are made on a queue beside the framework's work (ddp_device_queue_open), which
 * waits for a bucket's gradients and for its first sum. With NCCL the program waits for neither.
 * Without NCCL a first sum must be in pinned memory before the second can be queued: polls at the
 * hooks look for that, and ddp_reducer_backward_end waits for the last bucket's.
 *
 * Where ranks get each other's numbers (ddp_sum_plug.gathers), these travel in an all-gather
 * (comm/work.h) that starts right after the bucket's first sum.
 *
 * A pass that syncs:
 *
 *   1. ddp_rounds_begin
 *   2. for each bucket, in the launch order, if ddp_rounds_may_start_first: ddp_rounds_start_first,
 *      or ddp_rounds_skip_bucket
 *   3. in between, if ddp_rounds_may_start_second: ddp_rounds_start_second
 *   4. ddp_rounds_fence_bucket, and then ddp_rounds_land_param for each of its parameters */
#ifndef DDP_CORE_ROUNDS_H
#define DDP_CORE_ROUNDS_H

#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sum_plug.h"

typedef struct ddp_rounds ddp_rounds;

/* Open the sums of a plan's buckets. Every rank calls it. gradients: the plan's memory, on table's
 * device, run counts (core/bucket_plan.h) included. self is passed to plug's functions. All
 * pointers must outlive *out, which is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_rounds_open(ddp_rounds **out, ddp_group *group, const ddp_param_table *table,
                           const ddp_bucket_plan *plan, float *gradients, const ddp_sum_plug *plug,
                           void *self, ddp_error *err) DDP_MUST_CHECK;

/* Free r. NULL is allowed. No sum may be in flight, unless the group failed. */
void ddp_rounds_close(ddp_rounds *r);

/* Begin a pass that syncs. All sums of the last such pass must have been fenced. */
void ddp_rounds_begin(ddp_rounds *r);

/* Return 1 if the next bucket of the launch order may start its first sum: fewer than two started
 * buckets wait for the turn of their second sum. Else 0. */
int ddp_rounds_may_start_first(const ddp_rounds *r);

/* Encode a bucket, whose gradients and run counts are final, and start its first sum; where ranks
 * gather, also the all-gather. Does not wait. Fails with DDP_ERR_COMM. */
ddp_status ddp_rounds_start_first(ddp_rounds *r, size_t bucket, ddp_error *err) DDP_MUST_CHECK;

/* Skip the next bucket of the launch order, which no rank sends in this pass. */
void ddp_rounds_skip_bucket(ddp_rounds *r, size_t bucket);

/* Return 1 while a bucket's turn for a second sum is still to come; else 0. A bucket without
 * a second sum has a turn, too. *bucket becomes the index of the bucket whose turn is next.
 */
int ddp_rounds_has_second_left(const ddp_rounds *r, size_t *bucket);

/* Return 1 if the next second sum has its turn, and ddp_rounds_start_second would not wait. */
int ddp_rounds_may_start_second(const ddp_rounds *r);

/* Take the next turn of a second sum: if the bucket has one, wait for its first sum, encode that
 * sum and start the second. With NCCL nothing waits. Fails with DDP_ERR_COMM. */
ddp_status ddp_rounds_start_second(ddp_rounds *r, ddp_error *err) DDP_MUST_CHECK;

/* Fence all sums of a bucket (ddp_work_fence). Call after the last was started. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_rounds_fence_bucket(ddp_rounds *r, size_t bucket, ddp_error *err) DDP_MUST_CHECK;

/* Write the sum over ranks, decoded, to the gradient of table->params[i], which is not frozen. The
 * parameter's run count in the gradients' bucket becomes the number of ranks on which its layer
 * ran. Call after the fence of its bucket, one time in a pass. */
void ddp_rounds_land_param(ddp_rounds *r, size_t i);

/* Return the last sum that a bucket starts, owned by r: its second sum or all-gather, or the
 * first sum if it has neither. */
ddp_work *ddp_rounds_last(const ddp_rounds *r, size_t bucket);

/* Return 1 if all sums of a bucket have ended on this rank. Moves no data. */
int ddp_rounds_done(const ddp_rounds *r, size_t bucket);

/* Return 1 if all numbers in a bucket's sums are finite, else 0. Call after its fence and, on a
 * GPU, after ddp_group_synchronize (ddp_work_finite). The same on every rank. */
int ddp_rounds_finite(const ddp_rounds *r, size_t bucket);

/* Return how many floats of a bucket one rank sends, run counts included. */
size_t ddp_rounds_count(const ddp_rounds *r, size_t bucket);

#endif
