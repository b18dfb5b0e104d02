/* device/sum.h: the one order in which this project sums over ranks: a binary tree. The ranks
 * 0 to size - 1 are split at the largest power of two below size, again and again. Size 3 is (p0 +
 * p1) + p2, size 6 is ((p0 + p1) + (p2 + p3)) + (p4 + p5). */
#ifndef DDP_DEVICE_SUM_H
#define DDP_DEVICE_SUM_H

#include "device/float16.h"

#include <stddef.h>

/* Set inputs[own][i] to the sum over ranks r of inputs[r][i], for each i below count, in the order
 * of the tree. Returns 1 if every sum is finite, else 0, without another pass over memory. All
 * inputs must be rounded to the format of wire, whose first block begins at an input's start. Each
 * addition is made in float32 and rounded to that format. So the sum of any branch can travel, and
 * the result does not depend on which branches do. The other inputs are used as scratch. No two
 * inputs overlap. */
int ddp_sum_tree(float *const *inputs, int size, int own, size_t count, ddp_wire wire);

/* Sum as much of the tree as the ranks begin to end - 1 make alone. inputs[r] has
 * rank r's values. If a node (ddp_sum_nodes) was summed before, its first rank's input has the sum,
 * and its other ranks' inputs are NULL. Each node's sum goes to its first rank's input, or to
 * inputs[own] if own is in the node; inputs[own] is not NULL. Returns 0 if this made the sums of
 * all ranks and one is not finite, else 1. */
int ddp_sum_range(float *const *inputs, int size, int begin, int end, int own, size_t count,
                  ddp_wire wire);

enum { DDP_SUM_NODES_MAX = 64 }; /* most nodes that ranks in a row make up */

/* List the nodes of the ranks begin to end - 1: the largest whole branches of the tree that they
 * make up. The first rank of node i is firsts[i]; the node ends where the next one begins. Returns
 * how many there are, at most DDP_SUM_NODES_MAX. */
int ddp_sum_nodes(int size, int begin, int end, int *firsts);

/* Write the tree as a postfix program, for code that cannot branch at each addition (a GPU kernel).
 * For each i the program pushes node i, and then additions[i] times replaces the top two entries by
 * their sum. The nodes that are pushed have the first ranks firsts[0..count), in order; the last
 * node ends at rank end - 1. In the end the stack has the nodes (ddp_sum_nodes) of all these ranks,
 * in order. Returns how many. */
int ddp_sum_stack(int size, const int *firsts, int count, int end, unsigned char *additions);

#endif
