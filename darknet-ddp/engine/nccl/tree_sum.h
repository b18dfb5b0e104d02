/* nccl/tree_sum.h: sums of a GPU's memory in the order of device/sum.h, by NCCL's messages and a
 * kernel. Included by nccl/ alone. nccl/tree_plan.h plans which rank sums what with which; all
 * plans give the same bits. */
#ifndef DDP_NCCL_TREE_SUM_H
#define DDP_NCCL_TREE_SUM_H

#include "comm/work.h"
#include "nccl/state.h"
#include "nccl/tree_plan.h"

/* Queue a sum, or the half of it that sum->phase says, on the channel's stream, in place. Does not
 * wait. Counts what it sends (ddp_group_traffic). DDP_ALL_GATHER takes no scratch memory. Fails
 * with DDP_ERR_COMM. */
ddp_status ddp_nccl_ordered_sum(const struct ddp_nccl_plan *plan, const ddp_work *sum,
                                const struct ddp_nccl_channel *n, ddp_error *err) DDP_MUST_CHECK;

#endif
