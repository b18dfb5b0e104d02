/* algorithms/layer_drop/draw.h: draws which residual blocks a training step leaves out. Pure
 * functions.
 *
 * Progressive layer dropping (Zhang and He 2020, "Accelerating Training of Transformer-Based
 * Language Models with Progressive Layer Dropping"). The network has L blocks; block l, from 1 at
 * the input, is kept in step t, from 0, with the probability
 *
 *     p_l(t) = 1 - l/L (1 - theta(t)),   theta(t) = (1 - theta) exp(-gamma t) + theta
 *
 * theta is 1 minus the value of -ddp_layer_drop. The first step keeps all blocks, and deep blocks
 * are dropped more often. In a run of T steps gamma is 100/T, as in the paper. After a twentieth of
 * the run theta(t) has gone 99% of its way from 1 to theta.
 *
 * The output of a kept block is multiplied by 1/p_l(t) (the paper's algorithm 1), so that its
 * expected value is that of a network with all blocks. Testing and saving use all blocks, and
 * multiply nothing.
 *
 * The random number of a draw depends on the seed, the step and the block alone (base/random.h). So
 * all ranks drop the same blocks, with any number of ranks, and a resumed run draws as if it had
 * gone on.
 *
 * glue/residual_blocks.c finds the blocks. trainer/trainer_algorithms.c tells Darknet (net->drops),
 * BatchNorm's statistics and the reducer which layers are dropped. A block shares no bucket with
 * other layers, so that the bucket of a dropped one need not be sent (core/bucket_plan.h). */
#ifndef DDP_ALGORITHMS_LAYER_DROP_DRAW_H
#define DDP_ALGORITHMS_LAYER_DROP_DRAW_H

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_layer_drop {
    uint64_t seed;
    /* 1 - theta: the probability that the last block is dropped near the run's end; below 1 */
    double most;
    size_t steps; /* T, number of steps of the run; above 0 */
    int blocks;   /* L, number of residual blocks */
} ddp_layer_drop;

/* Return the probability that a block, from 0, is kept in a step, from 0: p_l(step) for l = block
 * + 1. The same program returns the same bits on every host. */
double ddp_layer_drop_keep_probability(const ddp_layer_drop *d, int block, size_t step);

/* Return 1 if a block, from 0, is dropped in a step, from 0. */
int ddp_layer_drop_drops_block(const ddp_layer_drop *d, int block, size_t step);

#endif
