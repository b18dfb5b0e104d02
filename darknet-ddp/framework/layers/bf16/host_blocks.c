#include "layers/bf16/host_blocks.h"

#include "blas.h"
#include "network.h"

// Rows of a block, at least: each block's sums are moved to those of all blocks.
#define BLOCK_ROWS 16
// Values between two calls of let_messages_move: about a millisecond.
#define VALUES_A_CALL (128 * BF16_BLOCK_VALUES)

static size_t block_values(layer l)
{
    size_t values = BLOCK_ROWS * (size_t)l.out_c;
    return values < BF16_BLOCK_VALUES ? BF16_BLOCK_VALUES : values;
}

size_t bf16_host_sums_bytes(layer l)
{
    size_t channels = (size_t)l.out_c;
    return channels * (3 * sizeof(float) + 2 * sizeof(double))
           + 2 * block_values(l) * sizeof(float);
}

bf16_blocks bf16_blocks_in(layer l, float *memory)
{
    bf16_blocks s;
    s.channels = (size_t)l.out_c;
    s.rows = (size_t)l.batch * (size_t)l.out_h * (size_t)l.out_w;
    s.at_once = block_values(l) / s.channels;
    s.sum = (double *)(void *)memory;
    s.second_sum = s.sum + s.channels;
    s.x = (float *)(void *)(s.second_sum + s.channels);
    s.y = s.x + block_values(l);
    s.scale = s.y + block_values(l);
    s.first = s.scale + s.channels;
    s.second = s.first + s.channels;
    return s;
}

bf16_blocks bf16_blocks_of(layer l, network net)
{
    return bf16_blocks_in(l, net.workspace);
}

size_t bf16_block_rows(bf16_blocks s, size_t row)
{
    return s.rows - row < s.at_once ? s.rows - row : s.at_once;
}

void bf16_blocks_move_messages(bf16_blocks s, network net, size_t row)
{
    size_t values = s.at_once * s.channels;
    size_t blocks = values < VALUES_A_CALL ? VALUES_A_CALL / values : 1;
    if (row / s.at_once % blocks == blocks - 1)
        let_messages_move(net);
}

void bf16_blocks_clear_sums(bf16_blocks s)
{
    memset(s.sum, 0, 2 * s.channels * sizeof(double));
    memset(s.first, 0, 2 * s.channels * sizeof(float));
}

VECTORIZE
static void move_sums(size_t channels, float *restrict of_block, double *restrict sum)
{
    for (size_t c = 0; c < channels; ++c) {
        sum[c] += of_block[c];
        of_block[c] = 0;
    }
}

void bf16_blocks_take_sums(bf16_blocks s)
{
    move_sums(s.channels, s.first, s.sum);
    move_sums(s.channels, s.second, s.second_sum);
}
