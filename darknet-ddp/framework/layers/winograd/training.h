/* layers/winograd/training.h: the passes of a float [convolutional] on a CPU, by Winograd's
 * algorithm in place of columns and gemm, if its shape suits (winograd_suits).
 *
 * Darknet's images are NCHW. A few images at a time are copied to NHWC and computed, and results
 * copied back; then messages between ranks may move (let_messages_move). No bias is added, no
 * activation called. Results have the same bits for any number of threads. */
#ifndef LAYERS_WINOGRAD_TRAINING_H
#define LAYERS_WINOGRAD_TRAINING_H

#include "darknet.h"

/* Return how many bytes of net.workspace the passes of layer l need. Return 0 if this module does
 * not compute them: always in a build without oneDNN. */
size_t winograd_workspace(layer l);

/* Write the convolution of all images of net.input to out, and return 1. If winograd_workspace
 * returns 0, do nothing and return 0. */
int winograd_forward_layer(layer l, network net, float *out);

/* Add to l.weight_updates the gradients of the weights, from net.input and l.delta. Return 1. If
 * winograd_workspace returns 0, do nothing and return 0. */
int winograd_backward_weights(layer l, network net);

/* Add the gradients of the input, from l.delta, to net.delta, or with is_set 1 write them there.
 * Return 1. If winograd_workspace returns 0, do nothing and return 0. */
int winograd_backward_data(layer l, network net, int is_set);

#endif
