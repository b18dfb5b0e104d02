/* algorithms/zero1/shard.h: what the optimizer remembers, shared out over ranks.
 *
 * Stage 1 of ZeRO (Rajbhandari et al. 2020). In a plain run all ranks update every parameter alike,
 * and each has all of momentum, or Adam's moments. Here a rank has moments only for its own slice
 * of each bucket. It has the sum of that slice after the first half of the bucket's sum
 * (comm/work.h). It updates the slice, and the second half of the sum brings the slices of all
 * ranks. No more travels than in a plain run, but parameters travel in 32 bits where gradients
 * travel in 16. Each element is updated by the numbers and formulas of a plain run, so its bits are
 * those of one.
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
 * comes to it (core/sharded.c). The others answer (saves/checkpoints.c). A thread in the background
 * does fsync, reading back and renames. A resumed run leaves its moments in the state file, which
 * stays open until ddp_sharded_hand_out_moments has broadcast them (state/saved_moments.c). */
#ifndef DDP_ALGORITHMS_ZERO1_SHARD_H
#define DDP_ALGORITHMS_ZERO1_SHARD_H

#include "base/status.h"
#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sharded.h"

#include <stddef.h>

typedef struct ddp_shard ddp_shard;

/* A run whose moments are shared out. What it points to must outlive the shard. */
typedef struct ddp_shard_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *memory;         /* memory of all buckets; the plan's offsets count from its start */
    ddp_work *const *sums; /* by bucket: sum over ranks of its gradients alone */
    int root;              /* rank whose moments the run begins with */
    const ddp_sharded_source
        *first; /* reader of root's moments; NULL: they are in the framework's memory */
} ddp_shard_of;

/* Give each rank the moments of its own ranges, as of->root has them, and empty the framework's
 * arrays of moments. Every rank calls it; blocks. *out is set on success. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM, and on of->root with of->first's error. */
ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err) DDP_MUST_CHECK;

/* Free s and its moments. The framework's arrays of moments then hold zeros; on a GPU without
 * memory for them they are NULL. NULL is allowed. */
void ddp_shard_close(ddp_shard *s);

/* Return the moments, for checkpoints; s owns them. */
ddp_sharded *ddp_shard_moments(const ddp_shard *s);

/* Return this rank's ranges of the parameter whose gradient begins at `gradient`, *count of them;
 * they live as long as s. NULL, and *count 0: no bucket has such a parameter. */
const ddp_sharded_range *ddp_shard_ranges(const ddp_shard *s, const float *gradient, size_t *count);

/* Write this rank's updated values of bucket b to the place of its gradients there. Call when the
 * bucket's sum has been waited for, or was fenced before a ddp_group_synchronize. If a gradient was
 * not finite, each range begins with NaN, so that every rank learns of it. */
void ddp_shard_publish_bucket(const ddp_shard *s, size_t b);

/* Copy all ranks' values of parameter i from the place of its gradient to the parameter, and set
 * the gradient to zero. Call when the second half of its bucket's sum is there. */
void ddp_shard_take_parameter(const ddp_shard *s, size_t i);

/* Bytes of moments: of this rank, and of a plain run. */
typedef struct ddp_shard_size {
    size_t own, all;
} ddp_shard_size;
ddp_shard_size ddp_shard_bytes(const ddp_shard *s);

#endif
