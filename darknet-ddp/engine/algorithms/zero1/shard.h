/* algorithms/zero1/shard.h: shards the optimizer's moments (momentum, or Adam's m and v) over
 * ranks, like PyTorch's ZeroRedundancyOptimizer.
 *
 * Stage 1 of ZeRO (Rajbhandari et al. 2020). Without it every rank has all moments, and updates
 * every parameter. Here a rank has the moments of its own part of each bucket: the ranges that a
 * reduce-scatter of the bucket leaves summed on this rank (comm/work.h). It updates these ranges,
 * and an all-gather brings it the updated ranges of the other ranks. Ranks send about as much as
 * without sharding, but parameters always travel in 32 bits. Each element is updated from the same
 * numbers, by the same formulas, and so has the same bits (with NCCL only under -ddp_exact).
 *
 * One step under -ddp_shard_optimizer:
 *
 *   1. Each bucket's gradients are reduce-scattered (DDP_REDUCE_SCATTER). With NCCL the sums are
 *      ordered ones, which can stop there (nccl/tree_plan.c).
 *   2. Of each array Darknet's optimizer updates only the ranges that ddp_shard_ranges returns
 *      (trainer/trainer_updates.c).
 *   3. After the last update, ddp_shard_publish_bucket writes the new values over the gradients.
 *      Then the all-gathers start, first layers first (ddp_reducer_send_updated). With a GPU the
 *      program first waits for the step's sums, to know whether they were finite.
 *   4. The next forward pass, or an earlier reader of the network, waits for a layer's values.
 *      ddp_shard_take_parameter copies them to the parameters.
 *
 * Darknet's own arrays of moments are not used while the shard is open. On the host they are empty
 * pages (base/huge_pages.h); on a GPU they are freed, and allocated again when the shard is closed.
 *
 * For a checkpoint, rank 0 asks the other ranks for each block of moments when it writes that block
 * (core/sharded.h, state/save.c). A resumed run reads its moments from the state file, which stays
 * open until ddp_sharded_hand_out_moments has given each rank its part (state/saved_moments.c). */
#ifndef DDP_ALGORITHMS_ZERO1_SHARD_H
#define DDP_ALGORITHMS_ZERO1_SHARD_H

#include "base/status.h"
#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/params.h"
#include "core/sharded.h"

#include <stddef.h>

typedef struct ddp_shard ddp_shard;

/* The arguments of ddp_shard_open. What they point to must outlive the shard, saved_moments only
 * the call. */
typedef struct ddp_shard_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *memory;         /* gradients of all buckets; offsets of `plan` count from here */
    ddp_work *const *sums; /* by bucket: the sum of its gradients over ranks */
    int root;              /* rank whose moments the run begins with */
    /* on rank `root`: reads the moments that the run begins with; NULL: Darknet has them */
    const ddp_sharded_source *saved_moments;
} ddp_shard_of;

/* Give each rank the moments of its own ranges, which rank of->root has, and empty Darknet's arrays
 * of moments. Every rank calls it; blocks. *out is set on success. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM, and on of->root with of->saved_moments' error: the other ranks then wait until
 * of->root ends the group. After a failure Darknet still has its moments. */
ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err) DDP_MUST_CHECK;

/* Free s and its moments. Darknet's arrays of moments then hold zeros; on a GPU without memory for
 * them they are NULL. NULL is allowed. */
void ddp_shard_close(ddp_shard *s);

/* Return the sharded moments, for checkpoints; s owns them. */
ddp_sharded *ddp_shard_moments(const ddp_shard *s);

/* Return this rank's ranges of the parameter whose gradient begins at `gradient`, and set *count to
 * their number, which may be 0. s owns them. Returns NULL, with *count 0, if no bucket has such a
 * parameter. */
const ddp_sharded_range *ddp_shard_ranges(const ddp_shard *s, const float *gradient, size_t *count);

/* Write this rank's ranges of bucket b, as updated, over their gradients, for the all-gather. Call
 * after a wait for the bucket's sum, or a fence and ddp_group_synchronize. If ddp_work_finite
 * returns 0 for the sum, the first gradient of each of these ranges becomes NaN, for all to see. */
void ddp_shard_publish_bucket(const ddp_shard *s, size_t b);

/* Copy parameter i, as all ranks have updated it, from the place of its gradient to the parameter,
 * and set the gradient to zero. Call when the all-gather of its bucket has landed. */
void ddp_shard_take_parameter(const ddp_shard *s, size_t i);

typedef struct ddp_shard_size {
    size_t own, all; /* bytes of moments: on this rank, and without sharding */
} ddp_shard_size;

/* Return how many bytes of moments this rank has, and how many it would have without sharding. */
ddp_shard_size ddp_shard_bytes(const ddp_shard *s);

#endif
