/* core/buffers.h: what rank 0 decides and every rank holds alike.
 *
 * Parameters start from rank 0's. BatchNorm's running statistics live in one piece of
 * memory, so that all of them travel together; they can be rank 0's throughout (Li et
 * al. 2020, section 4.1), or be summed: core/batchnorm_stats.h says of what.
 */
#ifndef DDP_CORE_BUFFERS_H
#define DDP_CORE_BUFFERS_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

typedef struct ddp_buffers ddp_buffers;

/* Copy rank 0's values of every parameter to all ranks. Fails with DDP_ERR_COMM. */
ddp_status ddp_params_broadcast(ddp_group *group, const ddp_param_table *table,
                                ddp_error *err) DDP_MUST_CHECK;

/* Copy rank 0's optimizer buffers of every parameter to all ranks; without what core/sharded.h has,
 * if that is `sharded`. Fails with DDP_ERR_COMM. */
ddp_status ddp_optimizer_broadcast(ddp_group *group, const ddp_param_table *table, int sharded,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Take over the buffers of table, present values included; both table and group
 * must outlive it. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_param_table *table,
                            ddp_error *err) DDP_MUST_CHECK;

/* Give the buffers back to the framework, values included. NULL is allowed. */
void ddp_buffers_close(ddp_buffers *b);

/* Bytes of all buffers together. */
size_t ddp_buffers_bytes(const ddp_buffers *b);

/* All buffers, one after the other in table's order: what the framework writes to. */
float *ddp_buffers_values(const ddp_buffers *b);

/* Start to sum the buffers over ranks, in place. Fails with DDP_ERR_COMM. */
ddp_status ddp_buffers_sum(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Start to copy rank 0's buffers to all ranks, after the sums in flight. The other ranks' own
 * values are gone at once. Does not wait. It is a sum to which only rank 0 adds, so it may not
 * overlap with what changes the buffers: a forward pass that trains. Fails with DDP_ERR_COMM. */
ddp_status ddp_buffers_start(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* From here on the device finds in the buffers rank 0's, or the sum, if that was started
 * (ddp_work_fence). Fails with DDP_ERR_COMM. */
ddp_status ddp_buffers_fence(ddp_buffers *b, ddp_error *err) DDP_MUST_CHECK;

/* Was the last sum or copy that has arrived finite? The same on every rank; 1 before the first. */
int ddp_buffers_finite(const ddp_buffers *b);

#endif
