/* core/buffers.h: parameters and buffers that one rank gives to all.
 *
 * Every rank starts from the parameters of one rank. BatchNorm's running statistics lie in one
 * block of memory, so that all of them travel together. They are copied from one rank (Li et al.
 * 2020, section 4.1), or summed, as core/batchnorm_stats.h says. */
#ifndef DDP_CORE_BUFFERS_H
#define DDP_CORE_BUFFERS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

typedef struct ddp_buffers ddp_buffers;

/* Copy rank root's value of every parameter to all ranks. Every rank calls it; blocks. Fails with
 * DDP_ERR_COMM and, with values on a GPU, DDP_ERR_NOMEM. */
ddp_status ddp_params_broadcast(ddp_group *group, const ddp_param_table *table, int root,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy rank root's optimizer buffers of every parameter to all ranks. If sharded is not 0, leave
 * out moments that updates change, of which each rank has parts (core/sharded.h). Every rank calls
 * it; blocks. Fails with DDP_ERR_COMM and, with values on a GPU, DDP_ERR_NOMEM. */
ddp_status ddp_optimizer_broadcast(ddp_group *group, const ddp_param_table *table, int sharded,
                                   int root, ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers of table, with their values, into one block of memory, and open the sum of that
 * block. Every rank calls it; nothing is sent. table and group must outlive *out, which is set on
 * success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_param_table *table,
                            ddp_error *err) DDP_MUST_CHECK;

/* Move the buffers, with their values, back to the framework's memory. Free b; it may be NULL. No
 * sum or copy may be in flight, unless the group failed. */
void ddp_buffers_close(ddp_buffers *b);

/* Return how many bytes all buffers have together. */
size_t ddp_buffers_bytes(const ddp_buffers *b);

/* Return the block of all buffers, one after the other in table's order, on table's device. The
 * framework writes there; b owns it. */
float *ddp_buffers_values(const ddp_buffers *b);

/* Start to sum the buffers over ranks, in place. Every rank calls it, when the last sum or copy has
 * its fence. Does not wait. Fails with DDP_ERR_USAGE (one is in flight), DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_buffers_start_sum(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Start to copy rank root's buffers to all ranks: a sum to which the others add zero, so that their
 * own values are lost at once. Forward passes that train must wait for the fence. Every rank calls
 * it, when the last sum or copy has its fence. Does not wait. Fails with DDP_ERR_USAGE (one is in
 * flight), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_buffers_start_copy(ddp_buffers *b, int root, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum or copy that was started last (ddp_work_fence): with NCCL that is queued, else
 * this blocks until it is there. Does nothing if none was started since the last fence. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_buffers_fence(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Return 0 if the sum or copy that was fenced last has a number that is not finite; else 1, also
 * while one is under way. The same on every rank. On a GPU call ddp_group_synchronize first
 * (ddp_work_finite). */
int ddp_buffers_finite(const ddp_buffers *b);

#endif
