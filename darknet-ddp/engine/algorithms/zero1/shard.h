/* algorithms/zero1/shard.h: what the optimizer remembers, shared out over ranks.
 *
 * Stage 1 of ZeRO (Rajbhandari et al. 2020). All ranks would update every parameter alike, each
 * with momentum, or Adam's moments, of its own, which are the same on all. Here a rank has the
 * moments of its share of each bucket alone: the share that it has the sum of after the first half
 * of the bucket's sum (comm/work.h). It updates that, puts the new values where the gradients were,
 * and the second half of the sum brings everybody's. So no more travels than without it (but where
 * gradients travel in 16 bits: parameters travel in 32), and since each element is updated by the
 * same numbers and formulas, no bit changes.
 *
 * The framework keeps its arrays of moments on the host, but they are empty pages
 * (base/huge_pages.h), also while a checkpoint is made: rank 0 asks the others for theirs as it
 * writes them (core/sharded.h). The framework's moment arrays on a GPU are freed while the shard is
 * open and allocated again when it closes.
 *
 * Under -ddp_shard_optimizer the sums of gradients stop half way (DDP_REDUCE_SCATTER in
 * comm/work.h): each rank then has the sums of its share of a bucket, the pieces that it sums
 * anyway. Its moments of these lie in algorithms/zero1/shard.c, and Darknet's own arrays of them
 * are empty pages. Darknet's update of a layer comes to optimize of its hooks
 * (trainer/trainer_updates.c) for each array, and the algorithm (ddp_update_plug) has it update the
 * share. After the last update the new values go where the gradients were, and the sums' other
 * halves start (ddp_reducer_send_updated in core/reducer_halves.c), first layers first; the next
 * forward pass waits for each layer's, as for a deferred update. Run counts travel in a sum of
 * their own after the buckets. On a GPU the share lies in its memory, Darknet's arrays there are
 * freed until the shard is closed, and NCCL's sums are the ordered ones, whose plan can stop half
 * way (nccl/tree_plan.c); the program waits until a step's sums have landed before the new values
 * leave, to know whether they were finite. At a save rank 0 writes the state file at once, and asks
 * for each block of moments as it comes to it (core/sharded.c, by way of ddp_checkpoint_source),
 * while the others answer (ddp_sharded_serve_blocks in saves/checkpoints.c) until it says that it
 * has all, or that its disk takes no more; fsync, reading back and renames are the saver's thread's
 * (ddp_pair_finish), and so are copies of the pair under other names (ddp_pair_copy). A run that
 * resumes leaves its moments in the state file, which is checked from end to end and stays open
 * (checkpoint/state_file.c), until ddp_sharded_hand_out_moments broadcasts them block by block
 * (state/saved_moments.c).
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

/* What the shard shares out; all of it must outlive the shard. */
typedef struct ddp_shard_of {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *memory;                   /* the plan's */
    ddp_work *const *sums;           /* of each bucket, without its run counts */
    int root;                        /* the rank whose moments all begin with */
    const ddp_sharded_source *first; /* where root has them; NULL: in the framework's memory */
} ddp_shard_of;

/* Give each rank its share of the moments that of->root has, and empty the framework's arrays of
 * them. Every rank calls it. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM, and on
 * of->root as of->first. */
ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err) DDP_MUST_CHECK;

/* The moments are gone with it, and the framework's are empty: a GPU's NULL, where there is no
 * memory for them. NULL is allowed. */
void ddp_shard_close(ddp_shard *s);

/* The moments, for checkpoints; the shard's. */
ddp_sharded *ddp_shard_moments(const ddp_shard *s);

/* This rank's parts, *count, of the parameter whose gradient begins here; NULL where it is in no
 * bucket. They live as long as the shard. */
const ddp_sharded_range *ddp_shard_ranges(const ddp_shard *s, const float *gradient, size_t *count);

/* This rank's values of bucket b go where its gradients were. Its sum has been waited for, or had a
 * fence that ddp_group_synchronize has seen. Where these were not finite, each
 * range begins with NaN, so that every rank learns of it. */
void ddp_shard_publish_bucket(const ddp_shard *s, size_t b);

/* Parameter i becomes what its bucket has brought, and its gradient zero. */
void ddp_shard_take_parameter(const ddp_shard *s, size_t i);

/* Bytes of moments that this rank has, and of all of them. */
typedef struct ddp_shard_size {
    size_t own, all;
} ddp_shard_size;
ddp_shard_size ddp_shard_bytes(const ddp_shard *s);

#endif
