/* core/rounds.h: sums of buckets that a plug has encoded (core/sum_plug.h): one or two sums for
 * each bucket. The second sum is computed from the result of the first.
 *
 * These sums have memory of their own. Parameters that the plug does not encode, and run counts, go
 * in the first sum as they are. It is the same whatever the buckets: each parameter is by itself,
 * and each number has the one order of summation of comm/work.h.
 *
 * Order. Sums must start in one order on every rank, and the second sum of a bucket can start only
 * when its first has arrived, which is a matter of chance. So the order is fixed: firsts of buckets
 * 0 and 1, second of 0, first of 2, second of 1, and so on. A bucket that is full waits for
 * its turn, and so two buckets are under way while backward computes on. A bucket without a second
 * sum waits for nothing.
 *
 * On a GPU numbers are made on a queue beside the framework's work (ddp_device_queue_open), which
 * waits for a bucket's gradients and for its first sum; with NCCL the program waits for none of
 * this, so that all turns follow at once. Without NCCL a first sum has to be in pinned memory
 * before the second can be queued: polls at the hooks see to that, and ddp_reducer_backward_end
 * waits until the second sum of the last bucket has started, so that the loss is sent after it.
 *
 * Where ranks get each other's numbers (ddp_sum_plug.gathers) these travel in an all-gather
 * (comm/work.h) that starts right after the bucket's sum, which has the rest. */
#ifndef DDP_CORE_ROUNDS_H
#define DDP_CORE_ROUNDS_H

#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sum_plug.h"

typedef struct ddp_rounds ddp_rounds;

/* gradients is the plan's memory, of table's device, with run counts at the end of each bucket. All
 * must outlive it, and the plug, which is called with self. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_rounds_open(ddp_rounds **out, ddp_group *group, const ddp_param_table *table,
                           const ddp_bucket_plan *plan, float *gradients, const ddp_sum_plug *plug,
                           void *self, ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. */
void ddp_rounds_close(ddp_rounds *r);

/* A pass that syncs begins: nothing is started, and everything of the last one has landed. */
void ddp_rounds_begin(ddp_rounds *r);
/* May the next bucket's first sum start? */
int ddp_rounds_may_start_first(const ddp_rounds *r);
/* Start it: the bucket's gradients and run counts are final. Fails with DDP_ERR_COMM. */
ddp_status ddp_rounds_start_first(ddp_rounds *r, size_t bucket, ddp_error *err) DDP_MUST_CHECK;
/* In its place, on every rank: the bucket is not sent in this pass. */
void ddp_rounds_skip_bucket(ddp_rounds *r, size_t bucket);

/* Is there a bucket with a second sum to start, of those that are started or not? *bucket: the next
 * one. */
int ddp_rounds_has_second_left(const ddp_rounds *r, size_t *bucket);
/* Is it its turn, and would go_on not wait? */
int ddp_rounds_may_start_second(const ddp_rounds *r);
/* Start it, where it has one, once what it is made of has arrived. Fails with DDP_ERR_COMM. */
ddp_status ddp_rounds_start_second(ddp_rounds *r, ddp_error *err) DDP_MUST_CHECK;

/* From here on the device finds the bucket's sums (ddp_work_fence). Fails with DDP_ERR_COMM. */
ddp_status ddp_rounds_fence_bucket(ddp_rounds *r, size_t bucket, ddp_error *err) DDP_MUST_CHECK;
/* After that: the gradient of table->params[i], which is in the bucket, becomes the sum over ranks,
 * and its run count, too. */
void ddp_rounds_land_param(ddp_rounds *r, size_t i);

/* The last sum that a bucket has; the rounds'. */
ddp_work *ddp_rounds_last(const ddp_rounds *r, size_t bucket);
/* Have all of its sums ended? Does not move data. And were all, which have had their fence, finite?
 * The same on every rank. */
int ddp_rounds_done(const ddp_rounds *r, size_t bucket);
int ddp_rounds_finite(const ddp_rounds *r, size_t bucket);
/* Numbers that are summed of it. */
size_t ddp_rounds_count(const ddp_rounds *r, size_t bucket);

#endif
