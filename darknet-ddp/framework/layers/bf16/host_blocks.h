/* layers/bf16/host_blocks.h: a layer's values as rows of channels, block by block.
 *
 * Values of a block stay in a core's cache from one loop to the next. Sums over a block are floats,
 * and are moved to doubles behind it. */
#ifndef BF16_HOST_BLOCKS_H
#define BF16_HOST_BLOCKS_H
#include "layers/bf16/host.h"

/* Values of a block, at least: x and y as floats are 32 KiB. */
#define BF16_BLOCK_VALUES 4096
/* Rows of a block, at most, of a layer that is fused with a [shortcut] of two sizes. */
#define BF16_MOST_PLACES 256

/* A layer's rows, and the memory that its loops have. */
typedef struct {
    size_t channels, rows;
    size_t at_once;           /* rows of a block, but of the last one */
    float *x, *y;             /* values of a block */
    float *scale;             /* for each channel, its scale divided by the deviation */
    float *first, *second;    /* two sums over a block, for each channel */
    double *sum, *second_sum; /* two sums over all blocks so far */
} bf16_blocks;

/* Return how many bytes of memory the blocks of a layer need. */
size_t bf16_host_sums_bytes(layer l);
/* Return the blocks of a layer, in bf16_host_sums_bytes of memory, or in net.workspace. */
bf16_blocks bf16_blocks_in(layer l, float *memory);
bf16_blocks bf16_blocks_of(layer l, network net);
/* Return how many rows the block has that begins at this row. */
size_t bf16_block_rows(bf16_blocks s, size_t row);
/* Let messages move, about once in a millisecond. row: the first of the block that is done */
void bf16_blocks_move_messages(bf16_blocks s, network net, size_t row);
/* Set all sums to zero. */
void bf16_blocks_clear_sums(bf16_blocks s);
/* Move the sums over a block to those over all blocks. */
void bf16_blocks_take_sums(bf16_blocks s);

#endif
