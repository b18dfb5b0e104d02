/* algorithms/zero1/shard.h: what the optimizer remembers, shared out over ranks.
 *
 * Stage 1 of ZeRO (Rajbhandari et al. 2020). In a plain run all ranks update every parameter alike,
 * and each has all of momentum, or Adam's moments. Here a rank has the moments of its own slice of
 * each bucket alone. It has the sum of that slice after the first half of the bucket's sum
 * (comm/work.h). It updates the slice, and the second half of the sum brings everybody's. No more
 * travels than in a plain run, but parameters travel in 32 bits where gradients travel in 16. Each
 * element is updated by the same numbers and formulas, so no bit changes.
 *
 * The framework's own arrays of moments are empty pages on the host (base/huge_pages.h). On a GPU
 * they are freed while the shard is open, and allocated again when it closes.
 *
 * One step under -ddp_shard_optimizer:
 *
 *   1. Sums of gradients stop half way (DDP_REDUCE_SCATTER). On a GPU they are NCCL's ordered ones,
 *      whose plan can stop half way (nccl/tree_plan.c).
 *   2. The framework's update of each array comes to ddp_update_plug (trainer/trainer_updates.c),
 *      which updates this rank's ranges.
 *   3. After the last update ddp_shard_publish_bucket puts the new values where the gradients were,
 *      and the other halves start, first layers first (ddp_reducer_send_updated). On a GPU the
 *      program first waits for the step's sums, to know whether they were finite.
 *   4. The next forward pass waits for each layer's values, and ddp_shard_take_parameter copies
 *      them.
 *
 * For a checkpoint, rank 0 writes the state file at once, and asks for each block of moments as it
 * comes to it (core/sharded.c). The others answer (saves/checkpoints.c). The background does fsync,
 * reading back and renames. A resumed run leaves its moments in the state file, which stays open
 * until ddp_sharded_hand_out_moments has broadcast them (state/saved_moments.c).
 */
#ifndef DDP_ALGORITHMS_ZERO1_SHARD_H
#define DDP_ALGORITHMS_ZERO1_SHARD_H

#include "base/status.h"
#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sharded.h"

#include <stddef.h>

typedef struct ddp_shard ddp_shard;

/* A run whose moments are shared out; all of it must outlive the shard. */
typedef struct ddp_shard_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *memory;                   /* that the plan's offsets count in */
    ddp_work *const *sums;           /* by bucket, without its run counts */
    int root;                        /* the rank whose moments all begin with */
    const ddp_sharded_source *first; /* where root has them; NULL: in the framework's memory */
} ddp_shard_of;

/* Give each rank its share of the moments that of->root has, and empty the framework's arrays of
 * them. Every rank calls it. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, and on
 * of->root as of->first. */
ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err) DDP_MUST_CHECK;

/* Free the moments. The framework's are empty then, or NULL where a GPU has no memory for them.
 * NULL is allowed. */
void ddp_shard_close(ddp_shard *s);

/* Return the moments, for checkpoints; the shard's. */
ddp_sharded *ddp_shard_moments(const ddp_shard *s);

/* Return this rank's *count ranges of the parameter whose gradient begins here. NULL: it is in no
 * bucket. They live as long as the shard. */
const ddp_sharded_range *ddp_shard_ranges(const ddp_shard *s, const float *gradient, size_t *count);

/* Put this rank's values of bucket b where its gradients were. Its sum has been waited for, or had
 * a fence that ddp_group_synchronize has seen. If a gradient was not finite, each range begins with
 * NaN, so that every rank learns of it. */
void ddp_shard_publish_bucket(const ddp_shard *s, size_t b);

/* Copy what the bucket has brought to parameter i, and set its gradient to zero. */
void ddp_shard_take_parameter(const ddp_shard *s, size_t i);

/* Bytes of moments: this rank's, and all. */
typedef struct ddp_shard_size {
    size_t own, all;
} ddp_shard_size;
ddp_shard_size ddp_shard_bytes(const ddp_shard *s);

#endif
