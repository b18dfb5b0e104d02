#include "layers/bf16/host.h"
#include "layers/bf16/host_blocks.h"

#include "activations.h"
#include "blas.h"

/*
 * Biases and activations of [convolutional] layers without BatchNorm.
 */

VECTORIZE
static void add_deltas(size_t rows, size_t channels, const float *restrict delta,
                       float *restrict sum)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c)
            sum[c] += delta[r * channels + c];
}

// bf16_host_convolve has added the biases.
void bf16_host_add_bias(layer l)
{
    const half *from = l.bf16->x ? l.bf16->x : l.bf16->output;
    size_t count = (size_t)l.outputs * (size_t)l.batch;
    for (size_t at = 0; l.activation != LINEAR && at < count; at += BF16_BLOCK) {
        float y[BF16_BLOCK];
        size_t n = count - at < BF16_BLOCK ? count - at : BF16_BLOCK;
        floats_of_halves(n, from + at, y);
        activate_array(y, (int)n, l.activation);
        halves_of_floats(n, y, (half *)l.bf16->output + at);
    }
}

void bf16_host_add_bias_backward(layer l, network net)
{
    bf16_blocks s = bf16_blocks_of(l, net);
    const half *y = l.bf16->x ? l.bf16->x : l.bf16->output;
    half *delta = l.bf16->delta;
    bf16_blocks_clear_sums(s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        size_t at = row * s.channels, rows = bf16_block_rows(s, row), n = rows * s.channels;
        floats_of_halves(n, delta + at, s.y);
        if (l.activation != LINEAR) {
            floats_of_halves(n, y + at, s.x);
            gradient_array(s.x, (int)n, l.activation, s.y);
            halves_of_floats(n, s.y, delta + at);
        }
        add_deltas(rows, s.channels, s.y, s.first);
        bf16_blocks_take_sums(s);
        bf16_blocks_move_messages(s, net, row);
    }
    for (size_t c = 0; c < s.channels; ++c)
        l.bias_updates[c] += (float)s.sum[c];
}
