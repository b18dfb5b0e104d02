/* core/tree_sum.h: sums mini-batches one by one, as they come, in a fixed binary tree.
 *
 * Mini-batches (leaves) 0, 1, 2, ... add into one block of memory, each from zero.
 * Folding a leaf keeps the sum of every finished subtree aside, like the digits of a
 * binary counter, so that M leaves come to ((g0 + g1) + (g2 + g3)) + ... with
 * log2(M) blocks kept. device/sum.h sums ranks in the same tree: where each of N ranks
 * has M leaves, both powers of two, the sum of all N*M has the same bits
 * as that of one rank with N*M.
 *
 * Under -ddp_exact three things are added up in a fixed binary tree over the mini-batches of a step
 * (core/tree_sum.c), with the ranks' tree on top: gradients, folded layer by layer as each
 * mini-batch's become final; the loss (core/loss.c); and what each mini-batch adds to BatchNorm's
 * statistics, weighted by how many mini-batches of the step come after it (core/batchnorm_stats.c).
 */
#ifndef DDP_CORE_TREE_SUM_H
#define DDP_CORE_TREE_SUM_H

#include "base/status.h"
#include "device/device.h"

#include <stddef.h>

typedef struct ddp_tree_sum ddp_tree_sum;

/* Sum leaves that add into block[0..count), memory of the device, which must outlive the tree.
 * leaves  how many make one sum: a power of two
 * *out is set on success. Fails with DDP_ERR_USAGE (no power of two), DDP_ERR_NOMEM. */
ddp_status ddp_tree_sum_open(ddp_tree_sum **out, ddp_device *device, float *block, size_t count,
                             int leaves, ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. Sums of leaves that are kept aside are lost. */
void ddp_tree_sum_close(ddp_tree_sum *t);

/* Elements offset..offset+count of the block hold what leaf 0..leaves-1 added to zero.
 * After the last leaf they are the sum of all, after another they are +0.
 * Every range is folded once for each leaf, leaves in order, ranges in any. */
void ddp_tree_sum_fold(ddp_tree_sum *t, int leaf, size_t offset, size_t count);

/* Add to the block what is kept of its first `folded` leaves, fewer than all; what is
 * kept is zero then, and folding may go on. */
void ddp_tree_sum_collect(ddp_tree_sum *t, int folded, size_t offset, size_t count);

/* Bytes kept aside, allocated by open. */
size_t ddp_tree_sum_bytes(const ddp_tree_sum *t);

#endif
