/* core/buffers.h: copies parameters, optimizer state and BatchNorm's buffers from one rank to all.
 *
 * Parameters, and a resumed run's optimizer state, are copied once, when a run begins. Buffers
 * (BatchNorm's running statistics) change in each forward pass of training. They lie in one block,
 * which one allreduce copies (Li et al. 2020, section 4.1) or sums (core/batchnorm_stats.h). */
#ifndef DDP_CORE_BUFFERS_H
#define DDP_CORE_BUFFERS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

typedef struct ddp_buffers ddp_buffers;

/* Copy rank root's value of every parameter to all ranks. Every rank calls it; blocks. Fails with
 * DDP_ERR_USAGE (root is no rank), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_params_broadcast(ddp_group *group, const ddp_param_table *table, int root,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy rank root's optimizer buffers of every parameter to all ranks. If sharded is not 0, leave
 * out moments that updates change, since each rank has only parts of them (core/sharded.h). Every
 * rank calls it; blocks. Fails with DDP_ERR_USAGE (no such root), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_optimizer_broadcast(ddp_group *group, const ddp_param_table *table, int sharded,
                                   int root, ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers of table, with their values, into one block of memory, and prepare its sum.
 * Every rank calls it; may block until all have. table and group must outlive *out, which is set on
 * success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_param_table *table,
                            ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers, with their values, back to the framework's memory. Free b; it may be NULL. No
 * sum or copy may be in flight, unless the group failed. */
void ddp_buffers_close(ddp_buffers *b);

/* Return the size of the block of all buffers, in bytes. */
size_t ddp_buffers_bytes(const ddp_buffers *b);

/* Return the block of all buffers, one after the other in table's order, on table's device. The
 * framework writes there; b owns it. */
float *ddp_buffers_values(const ddp_buffers *b);

/* Start to sum the buffers over ranks, in place. Every rank calls it, after ddp_buffers_fence for
 * the last sum or copy. Waits only as ddp_work_start does. Fails with DDP_ERR_USAGE if one is in
 * flight, and with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_start_sum(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Start to copy rank root's buffers to all ranks; root must be one of them. The other ranks'
 * buffers are set to zero at once, so call ddp_buffers_fence before they are used again. Every rank
 * calls it, after ddp_buffers_fence for the last sum or copy. Waits only as ddp_work_start does.
 * Fails with DDP_ERR_USAGE if one is in flight, and with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_start_copy(ddp_buffers *b, int root, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum or copy that was started last (ddp_work_fence): work that is queued on the device
 * later finds its result. Without NCCL this blocks until it has arrived. Does nothing if none was
 * started since the last fence. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_fence(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Return 0 if the last sum or copy is fenced and holds NaN or an infinite number, else 1. The same
 * on every rank. On a GPU call ddp_group_synchronize before, with one rank ddp_device_synchronize.
 * On the host with one rank, it may look at the buffers as they are now. */
int ddp_buffers_finite(const ddp_buffers *b);

#endif
