/* core/rounds.h: sums of what a plug (core/sum_plug.h) makes of buckets: one or two of a bucket, of
 * which the second is made of the first.
 *
 * They have memory of their own. Parameters of which the plug makes nothing, and run counts, go in
 * the first sum as they are. It is the same whatever the buckets: each parameter is by itself, and
 * each number has the one order of summation of comm/group.h.
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
 * waits until the last second sum has started, so that the loss comes behind.
 *
 * Where ranks get each other's numbers (ddp_sum_plug.gathers) these travel in an all-gather
 * (comm/work.h) that starts right behind the bucket's sum, which has the rest. */
#ifndef DDP_CORE_ROUNDS_H
#define DDP_CORE_ROUNDS_H

#include "comm/group.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sum_plug.h"
#include "core/sums.h"

/* gradients is the plan's memory, of table's device, with run counts at the end of each bucket. All
 * must outlive it, and the plug, which is called with self. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_rounds_open(ddp_sums **out, ddp_group *group, const ddp_param_table *table,
                           const ddp_bucket_plan *plan, float *gradients, const ddp_sum_plug *plug,
                           void *self, ddp_error *err) DDP_MUST_CHECK;

#endif
