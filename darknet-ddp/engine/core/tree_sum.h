/* core/tree_sum.h: sums mini-batches one by one, as they come, in a fixed binary tree.
 *
 * Mini-batches (leaves) 0, 1, 2, ... add into one block of memory, each from zero. Folding a leaf
 * keeps the sum of every finished subtree aside, like the digits of a binary counter. So M leaves
 * come to ((g0 + g1) + (g2 + g3)) + ... with log2(M) blocks kept. device/sum.h sums ranks in the
 * same tree. If each of N ranks has M leaves, both powers of two, the sum of all N*M has the same
 * bits as that of one rank with N*M.
 *
 * Under -ddp_exact this adds up gradients (layer by layer, as each mini-batch's become final), the
 * loss (core/loss.c), and what mini-batches add to BatchNorm's statistics
 * (core/batchnorm_stats.c). */
#ifndef DDP_CORE_TREE_SUM_H
#define DDP_CORE_TREE_SUM_H

#include "base/status.h"
#include "device/device.h"

#include <stddef.h>

typedef struct ddp_tree_sum ddp_tree_sum;

/* Open a sum of `leaves` mini-batches, a power of two. Each adds into block[0..count), memory of
 * the device. device and block must outlive *out, which is set on success. Fails with DDP_ERR_USAGE
 * (no power of two), DDP_ERR_NOMEM. */
ddp_status ddp_tree_sum_open(ddp_tree_sum **out, ddp_device *device, float *block, size_t count,
                             int leaves, ddp_error *err) DDP_MUST_CHECK;

/* Free t; sums that it keeps aside are lost. NULL is allowed. */
void ddp_tree_sum_close(ddp_tree_sum *t);

/* Fold a leaf into the tree: elements offset to offset + count - 1 of the block, to which that leaf
 * alone has added, from zero. Call with leaves in order, from 0; for each, once for every element.
 * After the last leaf these elements are the sum of all leaves; after any other leaf they are +0.
 */
void ddp_tree_sum_fold(ddp_tree_sum *t, int leaf, size_t offset, size_t count);

/* End the sum of elements offset to offset + count - 1 early: add to the block what is kept aside
 * of the first `folded` leaves, fewer than all. The kept sums are cleared, and a new sum may begin.
 */
void ddp_tree_sum_collect(ddp_tree_sum *t, int folded, size_t offset, size_t count);

/* Return how many bytes are allocated for sums that are kept aside. */
size_t ddp_tree_sum_bytes(const ddp_tree_sum *t);

#endif
