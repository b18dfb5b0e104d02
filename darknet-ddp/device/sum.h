/* device/sum.h: the one order in which this project sums over ranks. */
#ifndef DDP_DEVICE_SUM_H
#define DDP_DEVICE_SUM_H

#include <stddef.h>

/* parts[own][i] becomes the sum over r of parts[r][i], for i in 0..count. Returns 1 if every
 * sum is finite, else 0: found in the pass that makes them, without another over memory.
 * The ranks 0..size are split at the largest power of two below size, again and
 * again: size 3 is (p0 + p1) + p2, size 6 is ((p0 + p1) + (p2 + p3)) + (p4 + p5).
 * The other parts are used as scratch. No two parts overlap. */
int ddp_sum_tree(float *const *parts, int size, int own, size_t count);

#endif
