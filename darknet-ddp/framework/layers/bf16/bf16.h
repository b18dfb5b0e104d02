/* layers/bf16/bf16.h: mixed precision on a GPU, for a network that was made after cuda_bf16 was
 * set.
 *
 * Some layers run in bf16 (bf16_plan.c says which): their outputs, their deltas and what backward
 * needs between them are bf16, and channels come last (NHWC). Parameters, their gradients, momentum
 * and BatchNorm's statistics stay floats in Darknet's own order. So weights files, updates and
 * plugins need not know of bf16. In each forward pass a layer converts its weights to bf16, in
 * cuDNN's order (KRSC). cuDNN's gradients, bf16 too, are added to the floats.
 *
 * All other layers run in float32. If a layer is read by layers of the other type, its output is
 * kept in both. bf16_show_output converts it after the layer's forward pass. Before its backward
 * pass, bf16_gather_delta adds up the deltas that readers wrote in both types.
 *
 * Functions queue work on the default stream, and end the program if the GPU fails. Flags named
 * set, set_from: 1 writes the delta, 0 adds to it. */
#ifndef BF16_H
#define BF16_H
#include "darknet.h"

#ifdef CUDNN
typedef struct bf16_arrays {
    int runs;           /* 1: the layer runs in bf16; 0: output and delta serve layers that do */
    int read_as_floats; /* 1: a layer in bf16 that also has output_gpu and delta_gpu, for others */
    void *output;       /* in bf16; null if the layer is fused */
    void *delta;        /* gradient by the output; null if the layer takes none */
    void *x;     /* input of BatchNorm, or of an activation whose gradient needs it; else null */
    void *input; /* the network's input in bf16, if this is its first layer; else null */
    void *weights, *weight_updates; /* a [convolutional]'s, in cuDNN's order; else null */
    int fused;   /* 1: a [convolutional] that also computes the [shortcut] behind it. It keeps no
                    output of its own, since no other layer reads one */
    int trained; /* 1: a fused layer's last forward pass was one of training */
} bf16_arrays;

/* Return 1 if the layer runs in bf16. */
int bf16_runs(layer l);

/* ---- bf16_plan.c: which layers run in bf16, and their memory ---- */

/* Decide whether layer i runs in bf16, and make its memory. Call for each layer in turn, when the
 * type of the layer behind it is known: `next`; BLANK if i is the last. Ends the program on a GPU
 * below compute capability 8.0. */
void bf16_plan_layer(network *net, int i, LAYER_TYPE next);
/* Return the bytes of the largest workspace of a convolution. Call when all layers are planned. */
size_t bf16_workspace_size(network *net);
/* Resize the bf16 arrays of layer i, if any. Call when it and the layers before it are resized. */
void bf16_resize_layer(network *net, int i);
/* Free the layer's bf16 arrays, if it has some. */
void bf16_free(layer l);

/* ---- bf16_layers.c: forward and backward ---- */

/* Point the layer's forward_gpu and backward_gpu to the bf16 functions of its type. */
void bf16_run_layer(layer *l);
/* Convert the layer's output for readers of the other type, if it has some. Call after the forward
 * pass of a layer with l.bf16. */
void bf16_show_output(layer l);
/* Add up the deltas that readers wrote in bf16 and in float32, in the layer's own type. If it runs
 * in bf16 and nobody wrote one, fill it with zeros. Call before its backward pass. */
void bf16_gather_delta(layer *l);
/* Copy the output or delta of a layer that runs in bf16 to `to`, on the host: l.outputs*l.batch
 * floats in Darknet's order. Waits for the GPU. A fused layer's output is computed again. */
void bf16_pull_output(layer l, float *to);
void bf16_pull_delta(layer l, float *to);

/* ---- bf16_kernels.cu, bf16_channels.cu. All arrays of bf16 are NHWC. ---- */

/* Convert a float array of outer x channels x inner to bf16 as outer x inner x channels, or back.
 * add: 1 adds to what `to` holds, 0 writes it. Both arrays are on the device. */
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
/* Compute what bf16_normalize_backward_gpu does for a fused layer, from the delta of the shortcut
 * behind it. from_delta: delta of the other layer that the shortcut adds; null: it takes none. */
void bf16_normalize_and_add_backward_gpu(layer l, network net, layer shortcut, float alpha,
                                         int set_from, void *from_delta);
/* Do the same for a layer without BatchNorm, and add to the updates of its biases. */
void bf16_add_bias_backward_gpu(layer l, network net);

/* Return how many bytes of net.workspace the BatchNorm and bias functions above need for this
 * layer, in backward passes and in forward passes of training. */
size_t bf16_sums_size(layer l);

/* Compute the forward and backward passes of layers without parameters. input: the bf16 output of
 * the layer before. delta: the bf16 delta of the layer before. */
void bf16_maxpool_gpu(layer l, const void *input);
void bf16_maxpool_backward_gpu(layer l, int set, void *delta);
void bf16_upsample_gpu(layer l, const void *input);
void bf16_upsample_backward_gpu(layer l, int set, void *delta);
void bf16_avgpool_gpu(layer l, const void *input);
void bf16_avgpool_backward_gpu(layer l, int set, void *delta);
/* For each cell, copy (or add, if set is 0) `channels` values: from index first_from of the cell's
 * from_channels to index first_to of the cell's to_channels. */
void bf16_copy_channels_gpu(size_t cells, int channels, const void *from, int from_channels,
                            int first_from, int set, void *to, int to_channels, int first_to);
/* Compute a [shortcut]: alpha*input + beta*from, activated; beta is the layer's. input null: 0. */
void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from);
/* Pass a [shortcut]'s delta back to input_delta and from_delta; null for a layer that takes
 * none. */
void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta);

#endif
#endif
