/* layers/bf16/bf16_cuda.h: kernels of layers in bf16 (bf16_kernels.cu, bf16_channels.cu,
 * bf16_products.cu), of which bf16_cuda.c makes the backend of a GPU. All arrays of bf16 are NHWC,
 * on the device. */
#ifndef BF16_CUDA_H
#define BF16_CUDA_H
#ifdef CUDNN
#include "layers/bf16/backend.h"

/* Convert a float array of outer x channels x inner to bf16 as outer x inner x channels, or such
 * bf16 back to floats. Both add to what `to` holds if add is 1, and write it if add is 0. Both
 * arrays are on the device. */
void floats_to_bf16_gpu(size_t outer, int channels, int inner, const float *from, int add,
                        void *to);
void bf16_to_floats_gpu(size_t outer, int channels, int inner, const void *from, int add,
                        float *to);

/* Return 1 if layers in bf16 can have this activation. */
int bf16_has_activation(ACTIVATION a);
/* Normalize and activate a [convolutional] with BatchNorm: make its bf16 output from the
 * convolution's result in l.bf16->x. In training, compute the statistics first. */
void bf16_normalize_gpu(layer l, network net);
/* Compute a fused layer and the [shortcut] behind it in one pass. The shortcut's bf16 output
 * becomes alpha*y + beta*from, activated; y is what bf16_normalize_gpu would give. from: the bf16
 * output of the other layer that the shortcut adds. */
void bf16_normalize_and_add_gpu(layer l, network net, layer shortcut, float alpha,
                                const void *from);
/* Write to `output` (bf16, on the device) the output that a fused layer would have, from its x and
 * its present parameters. */
void bf16_normalize_again_gpu(layer l, void *output);
/* Add biases to the convolution's result, and activate it, for a layer without BatchNorm. */
void bf16_add_bias_gpu(layer l);
/* Turn the layer's bf16 delta, the gradient by the layer's output, into the gradient by its
 * convolution's result. Add to the updates of scales and biases. */
void bf16_normalize_backward_gpu(layer l, network net);
/* Pass the delta of the [shortcut] back to a fused layer, times alpha, and do there what
 * bf16_normalize_backward_gpu does. With set_from 1, write the delta times the [shortcut]'s beta to
 * from_delta; with 0, add it. Parameter from_delta: delta of the other layer that the [shortcut]
 * adds; null: that layer takes none. */
void bf16_normalize_and_add_backward_gpu(layer l, network net, layer shortcut, float alpha,
                                         int set_from, void *from_delta);
/* Turn the delta of a layer without BatchNorm into the gradient by its convolution's result. Add to
 * the updates of its biases. */
void bf16_add_bias_backward_gpu(layer l, network net);

/* Return how many bytes of net.workspace the BatchNorm and bias functions above need for this
 * layer, in backward passes and in forward passes of training. */
size_t bf16_sums_size(layer l);

/* Compute the forward and backward passes of layers without parameters. input, delta: bf16 output
 * and delta of the layer before. set: 1 writes the gradient to delta, 0 adds it. */
void bf16_maxpool_gpu(layer l, const void *input);
void bf16_maxpool_backward_gpu(layer l, int set, void *delta);
void bf16_upsample_gpu(layer l, const void *input);
void bf16_upsample_backward_gpu(layer l, int set, void *delta);
void bf16_avgpool_gpu(layer l, const void *input);
void bf16_avgpool_backward_gpu(layer l, int set, void *delta);
/* For each of `cells` cells, copy (or add, if set is 0) `channels` values: from index first_from of
 * the cell's from_channels to index first_to of the cell's to_channels. */
void bf16_copy_channels_gpu(size_t cells, int channels, const void *from, int from_channels,
                            int first_from, int set, void *to, int to_channels, int first_to);
/* Compute a [shortcut]: alpha*input + beta*from, activated; beta is the layer's. A null input
 * counts as zeros. */
void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from);
/* Pass a [shortcut]'s delta back: times alpha to input_delta, times beta to from_delta. Null: that
 * layer takes none. set, set_from: 1 writes it there, 0 adds it. */
void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta);
/* Compute a [scale_channels] or [sam], and pass its delta back: multiply and multiply_backward of
 * bf16_backend (bf16_products.cu). */
void bf16_multiply_gpu(layer l, const void *x, const void *scales);
void bf16_multiply_backward_gpu(layer l, const void *x, const void *scales, int set_x,
                                void *x_delta, int set_scales, void *scales_delta);

#endif
#endif
