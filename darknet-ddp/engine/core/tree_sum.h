/* core/tree_sum.h: adds numbers of the mini-batches of a step in a fixed binary tree, so that with
 * -ddp_exact a sum has the same bits on any number of ranks.
 *
 * The mini-batches (leaves) g0, g1, g2, ... are written to one block of memory, one after the
 * other. After each, ddp_tree_sum_fold adds it to the tree, and sets the block to zero if another
 * follows. The sum is ((g0 + g1) + (g2 + g3)) + ...; of M leaves at most log2(M) partial sums are
 * kept at a time, like the digits of a binary counter. Ranks are summed in the same tree
 * (device/sum.h). So if each of N ranks has M leaves, both powers of two, the sum has the same bits
 * as that of one rank with N*M leaves.
 *
 * This adds gradients (layer by layer, as they become final), the loss (core/loss.c), and what
 * mini-batches add to BatchNorm's statistics (core/batchnorm_stats.c). */
#ifndef DDP_CORE_TREE_SUM_H
#define DDP_CORE_TREE_SUM_H

#include "base/status.h"
#include "device/device.h"

#include <stddef.h>

typedef struct ddp_tree_sum ddp_tree_sum;

/* Open a sum of `leaves` mini-batches, a power of two. Each is written to block[0..count), memory
 * of the device. device and block must outlive *out, which is set on success. Fails with
 * DDP_ERR_USAGE (no power of two), DDP_ERR_NOMEM. */
ddp_status ddp_tree_sum_open(ddp_tree_sum **out, ddp_device *device, float *block, size_t count,
                             int leaves, ddp_error *err) DDP_MUST_CHECK;

/* Free t; its partial sums are lost. NULL is allowed. */
void ddp_tree_sum_close(ddp_tree_sum *t);

/* Add elements offset to offset + count - 1 of a leaf to the tree; the block must hold that leaf
 * alone there. Add each element one time for each leaf, in the order of leaves, from 0. After the
 * last leaf the block holds the sum of all leaves there; after any other leaf +0. */
void ddp_tree_sum_fold(ddp_tree_sum *t, int leaf, size_t offset, size_t count);

/* End the sum of elements offset to offset + count - 1 early, after `folded` leaves were folded:
 * add their partial sums to the block, which may hold one more leaf. Then a new sum may begin. */
void ddp_tree_sum_collect(ddp_tree_sum *t, int folded, size_t offset, size_t count);

/* Return how many bytes are allocated for partial sums. */
size_t ddp_tree_sum_bytes(const ddp_tree_sum *t);

#endif
