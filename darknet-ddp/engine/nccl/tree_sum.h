/* nccl/tree_sum.h: ordered sums: sums of a GPU's memory in the order of device/sum.h. NCCL carries
 * their messages, and a kernel adds. nccl/tree_plan.h plans which rank adds which elements; all
 * plans give the same bits. Included by nccl/ alone. */
#ifndef DDP_NCCL_TREE_SUM_H
#define DDP_NCCL_TREE_SUM_H

#include "comm/work.h"
#include "nccl/state.h"
#include "nccl/tree_plan.h"

/* Queue a sum, or the half of it that sum->phase names, on channel n, in place. Does not wait for
 * the GPU. n has the scratch memory that the plan asks for; DDP_ALL_GATHER needs none. Counts the
 * messages in the group's traffic. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_nccl_ordered_sum(const struct ddp_nccl_plan *plan, const ddp_work *sum,
                                const struct ddp_nccl_channel *n, ddp_error *err) DDP_MUST_CHECK;

#endif
