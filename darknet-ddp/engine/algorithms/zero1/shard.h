/* algorithms/zero1/shard.h: what the optimizer remembers, shared out over ranks.
 *
 * Stage 1 of ZeRO (Rajbhandari et al. 2020). All ranks would update every parameter alike, each
 * with momentum, or Adam's moments, of its own, which are the same on all. Here a rank has the
 * moments of its share of each bucket alone: the share that it has the sum of after the first half
 * of the bucket's sum (comm/group.h). It updates that, puts the new values where the gradients
 * were, and the second half of the sum brings everybody's. So no more travels than without it (but
 * where gradients travel in 16 bits: parameters travel in 32), and
 * since each element is updated by the same numbers and formulas, no bit changes.
 *
 * The framework keeps its arrays of moments on the host, but they are empty pages (base/pages.h),
 * also while a checkpoint is made: rank 0 asks the others for theirs as it writes them
 * (core/sharded.h). A GPU's it has not: their memory is given back, and got again when the shard is
 * closed.
 */
#ifndef DDP_ALGORITHMS_ZERO1_SHARD_H
#define DDP_ALGORITHMS_ZERO1_SHARD_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"
#include "core/plan.h"
#include "core/sharded.h"

#include <stddef.h>

typedef struct ddp_shard ddp_shard;

/* What the shard shares out; all of it must outlive the shard. */
typedef struct ddp_shard_of {
    ddp_group *group;
    const ddp_table *table;
    const ddp_plan *plan;
    float *memory;                   /* the plan's */
    ddp_allreduce *const *sums;      /* of each bucket, without its run counts */
    const ddp_sharded_source *first; /* on rank 0; NULL: the framework has what a run begins with */
} ddp_shard_of;

/* Collective. Each rank takes its share of the moments that rank 0's framework has, or of->first
 * there, and the framework's are empty from then on. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM, and on rank 0 as of->first. */
ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err) DDP_MUST_CHECK;

/* The moments are gone with it, and the framework's are empty: a GPU's NULL, where there is no
 * memory for them. NULL is allowed. */
void ddp_shard_close(ddp_shard *s);

/* The moments, for checkpoints; the shard's. */
ddp_sharded *ddp_shard_moments(const ddp_shard *s);

/* This rank's parts, *count, of the parameter whose gradient begins here; NULL where it is in no
 * bucket. They live as long as the shard. */
const ddp_sharded_part *ddp_shard_parts(const ddp_shard *s, const float *gradient, size_t *count);

/* This rank's values of bucket b go where its gradients were. Its sum has been waited for, or had a
 * fence that ddp_group_settle has seen. Where these were not finite, each
 * range begins with NaN, so that every rank learns of it. */
void ddp_shard_publish(const ddp_shard *s, size_t b);

/* Parameter i becomes what its bucket has brought, and its gradient zero. */
void ddp_shard_take(const ddp_shard *s, size_t i);

/* Bytes of moments that this rank has, and of all of them. */
typedef struct ddp_shard_size {
    size_t own, all;
} ddp_shard_size;
ddp_shard_size ddp_shard_bytes(const ddp_shard *s);

#endif
