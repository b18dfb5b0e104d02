/* device/sum.h: adds up arrays of all ranks in one fixed order, so that a sum has the same bits by
 * whichever schedule it travels.
 *
 * The order is a binary tree over the ranks 0 to size - 1. They are split at the largest power of
 * two below size, again and again. Size 3 is (p0 + p1) + p2, size 6 is ((p0 + p1) + (p2 + p3)) +
 * (p4 + p5). A node is a branch of this tree, a single rank too; it has the sum of some ranks in a
 * row. "The nodes of ranks begin to end - 1" are the fewest nodes that make up these ranks, from
 * left to right.
 *
 * Each addition is made in float32 and rounded to a format (parameter `wire`). All inputs must be
 * rounded to it. So a node's sum can travel without loss. A format of 8 bits rounds by blocks
 * (device/float8.h), the first of which begins at the start of an array. */
#ifndef DDP_DEVICE_SUM_H
#define DDP_DEVICE_SUM_H

#include "device/float16.h"

#include <stddef.h>

/* Set inputs[own][i] to the sum over all ranks r of inputs[r][i], for each i below count. The other
 * inputs are used as scratch. No two inputs overlap. Returns 1 if every sum is finite, else 0. */
int ddp_sum_tree(float *const *inputs, int size, int own, size_t count, ddp_wire wire);

/* Sum each of the nodes of ranks begin to end - 1, out of `size` ranks.
 *
 *   inputs  inputs[r] has `count` values of rank r. If a smaller node was summed before, its sum is
 *           the input of its first rank, and its other ranks' inputs are NULL.
 *   own     a rank whose input is not NULL
 *
 * The sum of a node goes to inputs[own] if the node has rank `own`, else to the input of its first
 * rank. The other inputs are used as scratch. Returns 0 if a sum over all `size` ranks was made and
 * is not finite, else 1. */
int ddp_sum_range(float *const *inputs, int size, int begin, int end, int own, size_t count,
                  ddp_wire wire);

enum { DDP_SUM_NODES_MAX = 64 }; /* most nodes that ranks begin to end - 1 can have */

/* Set firsts[i] to the first rank of each of the nodes of ranks begin to end - 1. A node ends where
 * the next one begins. Returns how many nodes there are, at most DDP_SUM_NODES_MAX. */
int ddp_sum_nodes(int size, int begin, int end, int *firsts);

/* Plan how a GPU kernel adds up `count` nodes by a stack. The kernel pushes the nodes in order.
 * After node i it replaces the top two entries by their sum, additions[i] times.
 *
 *   firsts     first rank of each node; a node ends where the next one begins
 *   end        number of the first rank behind the last node
 *   additions  room for `count` numbers, which are set
 *
 * Returns how many nodes are left on the stack: those of ranks firsts[0] to end - 1, in order. */
int ddp_sum_stack(int size, const int *firsts, int count, int end, unsigned char *additions);

#endif
