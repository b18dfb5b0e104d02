/* layers/bf16/host.h: the parts of the backend of a CPU (host.c has the table). A function
 * bf16_host_NAME without a comment is the member NAME of bf16_backend.
 *
 * Arrays of bf16 hold the upper 16 bits of floats. A row is the channels of one cell. Loops go over
 * blocks of rows that fit a core's first cache. They widen a block to floats, compute by Darknet's
 * formulas, and round the results to the nearest bf16. Sums over rows are in the order of rows,
 * whatever the number of threads. */
#ifndef BF16_HOST_H
#define BF16_HOST_H
#include "layers/bf16/backend.h"
#include "layers/onednn/half.h"

typedef unsigned short half;

/* Values that loops compute at a time, in floats. */
#define BF16_BLOCK 1024

/* 1: convolutions compute with values of bf16, but by float32 products, so that any CPU runs them.
 * For tests. Set it before a network is parsed. */
extern int bf16_emulated;

/* ---- host_values.c: arrays ---- */

void bf16_widen(size_t n, const half *from, float *to);
void bf16_narrow(size_t n, const float *from, half *to);
/* Write n floats of `from` to `to`, rounded. With set 0, add them instead, and round the sums. */
void bf16_give(size_t n, const float *from, int set, half *to);
/* Write y, the activation's input of n values from index `at` on, to l.bf16->x if the layer has it.
 * Write the activated values to its output. y is overwritten. */
void bf16_host_activate(layer l, size_t n, size_t at, float *y);
/* Write to delta, as floats, the gradient by the activation's input, of n values (BF16_BLOCK at
 * most) from index `at` of the layer's delta. */
void bf16_host_gradient(layer l, size_t n, size_t at, float *delta);

void bf16_host_from_floats(size_t outer, int channels, int inner, const float *from, int add,
                           void *to);
void bf16_host_to_floats(size_t outer, int channels, int inner, const void *from, int add,
                         float *to);

/* ---- host_convolution.c ---- */

int bf16_host_prepare(layer *l);
void bf16_host_free_convolution(layer l);
void bf16_host_convolve(layer l, network net, const void *input);
void bf16_host_convolve_backward_weights(layer l, network net, const void *input);
void bf16_host_convolve_backward_input(layer l, network net, int set, void *input_delta);

/* ---- host_normalize.c ---- */

/* Return how many bytes of net.workspace the functions of host_normalize.c need for a layer. */
size_t bf16_host_sums_size(layer l);
void bf16_host_normalize(layer l, network net);
void bf16_host_normalize_and_add(layer l, network net, layer shortcut, float alpha,
                                 const void *from);
void bf16_host_normalize_again(layer l, void *output);
void bf16_host_add_bias(layer l);
void bf16_host_normalize_backward(layer l, network net);
void bf16_host_normalize_and_add_backward(layer l, network net, layer shortcut, float alpha,
                                          int set_from, void *from_delta);
void bf16_host_add_bias_backward(layer l, network net);

/* ---- host_loops.c ---- */

void bf16_host_maxpool(layer l, const void *input);
void bf16_host_maxpool_backward(layer l, int set, void *delta);
void bf16_host_upsample(layer l, const void *input);
void bf16_host_upsample_backward(layer l, int set, void *delta);
void bf16_host_avgpool(layer l, const void *input);
void bf16_host_avgpool_backward(layer l, int set, void *delta);
void bf16_host_copy_channels(size_t cells, int channels, const void *from, int from_channels,
                             int first_from, int set, void *to, int to_channels, int first_to);
void bf16_host_shortcut(layer l, const void *input, float alpha, const void *from);
void bf16_host_shortcut_backward(layer l, float alpha, int set, void *input_delta, int set_from,
                                 void *from_delta);

/* ---- host_products.c ---- */

void bf16_host_multiply(layer l, const void *x, const void *scales);
void bf16_host_multiply_backward(layer l, const void *x, const void *scales, int set_x,
                                 void *x_delta, int set_scales, void *scales_delta);

#endif
