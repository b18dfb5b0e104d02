/* algorithms/layer_drop/draw.h: which residual blocks a step is trained without. Pure functions.
 *
 * Progressive layer dropping (Zhang and He 2020, "Accelerating Training of Transformer-Based
 * Language Models with Progressive Layer Dropping"). Of L blocks, counted from 1 at the input,
 * block l is kept in step t, counted from 0, with the probability
 *
 *     p_l(t) = 1 - l/L (1 - theta(t)),   theta(t) = (1 - theta) exp(-gamma t) + theta
 *
 * The first step has all blocks, and deep blocks are dropped more often. In a run of T steps gamma
 * is the paper's 100/T. After a twentieth of the run theta(t) is theta, but for 1%.
 *
 * The output of a kept block is multiplied by 1/p_l(t) (the paper's algorithm 1). Its expected
 * value is then that of a network with all blocks. Testing and saving use the network with all
 * blocks, and multiply nothing.
 *
 * A draw depends on the seed, the step and the block alone (base/random.h): all ranks, any number
 * of them, and a resumed run drop the same.
 *
 * glue/residual_blocks.c finds the blocks. trainer/trainer_algorithms.c tells Darknet (net->drops),
 * the statistics and the reducer which ones a step is trained without. A block shares no bucket
 * with others (core/bucket_plan.h), so the buckets of dropped layers are not sent. */
#ifndef DDP_ALGORITHMS_LAYER_DROP_DRAW_H
#define DDP_ALGORITHMS_LAYER_DROP_DRAW_H

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_layer_drop {
    uint64_t seed;
    /* 1 - theta, the probability with which the last block is dropped in the end; below 1 */
    double most;
    size_t steps; /* T, how many steps the run has; above 0 */
    int blocks;   /* L, how many residual blocks there are */
} ddp_layer_drop;

/* Return the probability that a block, counted from 0, is kept in a step: p_l(step) for l = block
 * + 1. The same bits on every machine. */
double ddp_layer_drop_keep_probability(const ddp_layer_drop *d, int block, size_t step);

/* Return 1 if a block, counted from 0, is dropped in a step. */
int ddp_layer_drop_drops_block(const ddp_layer_drop *d, int block, size_t step);

#endif
