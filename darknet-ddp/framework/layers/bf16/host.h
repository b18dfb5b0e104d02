/* layers/bf16/host.h: the parts of the backend of a CPU (backend.h); host.c has the table. A
 * function bf16_host_NAME without a comment is the member NAME of bf16_backend.
 *
 * Convolutions are computed by oneDNN. The other functions convert bf16 to floats, compute by
 * Darknet's formulas, and round what becomes bf16 to the nearest bf16. The order of their additions
 * does not depend on the number of threads. */
#ifndef BF16_HOST_H
#define BF16_HOST_H
#include "layers/bf16/backend.h"
#include "layers/onednn/half.h"

typedef unsigned short half;

/* Length of the arrays that a loop has on the stack: so many values it converts at a time. */
#define BF16_BLOCK 1024

/* 1: multiply bf16 values in float32, so that convolutions run on any CPU. For tests, which set it
 * before a network is parsed. */
extern int bf16_emulated;

/* ---- host_values.c: arrays ---- */

/* Round n floats to bf16, and write them to `to`. With set 0, add them to `to`, then round. */
void bf16_set_or_add(size_t n, const float *from, int set, half *to);
/* Activate y[0..n), and write the results to the layer's output from index `at` on. If the layer
 * has an x, first write y to x, from `at` on. Overwrites y. */
void bf16_host_activate(layer l, size_t n, size_t at, float *y);
/* Set delta[0..n) to the gradient of the activation's input, in float32, for elements `at` to
 * at + n - 1 of the layer's delta. n is at most BF16_BLOCK. */
void bf16_host_gradient(layer l, size_t n, size_t at, float *delta);

void bf16_host_from_floats(size_t outer, int channels, int inner, const float *from, int set,
                           void *to);
void bf16_host_to_floats(size_t outer, int channels, int inner, const void *from, int set,
                         float *to);

/* ---- host_convolution.c ---- */

int bf16_host_prepare(layer *l);
void bf16_host_free_convolution(layer l);
void bf16_host_convolve(layer l, network net, const void *input);
void bf16_host_convolve_backward_weights(layer l, network net, const void *input);
void bf16_host_convolve_backward_input(layer l, network net, int set, void *input_delta);

/* ---- host_normalize.c, host_biases.c ---- */

int bf16_host_can_fuse_sizes(layer l, layer shortcut);
void bf16_host_normalize(layer l, network net);
void bf16_host_normalize_and_add(layer l, network net, layer shortcut, float alpha,
                                 const void *from);
void bf16_host_recompute_output(layer l, void *output);
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
/* Return the place, in the other layer that a [shortcut] reads, of the values that are added to the
 * first channels of cell i of the output; -1: none are. Layers of two sizes meet as shortcut_cpu
 * has them meet. */
long bf16_host_shortcut_place(layer l, int i);
/* Return how many channels both layers of a [shortcut] have. */
size_t bf16_host_shortcut_channels(layer l);
/* Fill with zeros the delta that a [shortcut] sets, of the other layer, if not all of it meets a
 * value of the output. Return what set_from is then. from_delta may be null. */
int bf16_host_shortcut_begin(layer l, int set_from, void *from_delta);
void bf16_host_shortcut(layer l, const void *input, float alpha, const void *from);
void bf16_host_shortcut_backward(layer l, float alpha, int set, void *input_delta, int set_from,
                                 void *from_delta);

/* ---- host_products.c ---- */

void bf16_host_multiply(layer l, const void *x, const void *scales);
void bf16_host_multiply_backward(layer l, const void *x, const void *scales, int set_x,
                                 void *x_delta, int set_scales, void *scales_delta);

#endif
