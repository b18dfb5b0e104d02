/* device/sum.h: the one order in which this project sums over ranks. */
#ifndef DDP_DEVICE_SUM_H
#define DDP_DEVICE_SUM_H

#include "device/float16.h"

#include <stddef.h>

/* parts[own][i] becomes the sum over r of parts[r][i], for i in 0..count. Returns 1 if every
 * sum is finite, else 0: found in the pass that makes them, without another over memory.
 * The ranks 0..size are split at the largest power of two below size, again and
 * again: size 3 is (p0 + p1) + p2, size 6 is ((p0 + p1) + (p2 + p3)) + (p4 + p5).
 * wire: each addition is made in float32, and rounded to what the wire carries (device/float16.h);
 * the parts are rounded already. So every sum of a branch can travel, and the result does not
 * depend on which do. The other parts are used as scratch. No two parts overlap. */
int ddp_sum_tree(float *const *parts, int size, int own, size_t count, ddp_wire wire);

/* The tree by and by: as much of it as the ranks begin..end make alone. Of these parts[r] is rank
 * r's, or the sum of a node (below) whose first rank is r, or NULL where r is in such a sum. For
 * each node of begin..end parts[first] becomes its sum; parts[own] where own is in it, a rank whose
 * part is not NULL. Returns 0 where that made sums of all ranks, and one of them is not finite,
 * else 1. */
int ddp_sum_range(float *const *parts, int size, int begin, int end, int own, size_t count,
                  ddp_wire wire);

/* The largest whole branches of the tree that make up the ranks begin..end: firsts[i] is the first
 * rank of the i-th, which ends where the next one begins. Returns how many. */
enum { DDP_SUM_NODES_MAX = 64 };
int ddp_sum_nodes(int size, int begin, int end, int *firsts);

/* The same by a stack, for whoever cannot ask at each addition. The ranks up to `end` come as
 * nodes, whose first ranks are firsts[0..count), in order; each is put on the stack, and after node
 * i the two on top become their sum, additions[i] times. What is on the stack then are the nodes
 * that make up all of these ranks (above), in order. Returns how many. */
int ddp_sum_stack(int size, const int *firsts, int count, int end, unsigned char *additions);

#endif
