#ifndef BF16_H
#define BF16_H
#include "darknet.h"

#ifdef CUDNN
/*
 * Mixed precision on a GPU, where cuda_bf16 asked for it before the network was made.
 *
 * Some layers run in bf16 (bf16_plan.c says which): their outputs, their deltas and what backward
 * needs between them are bf16, and channels come last (NHWC). Parameters, their gradients, momentum
 * and BatchNorm's statistics stay the floats that they are, in Darknet's own order: weights files,
 * updates and plugins need not know of bf16. In each forward pass a layer makes the bf16 weights
 * that it multiplies with anew, in cuDNN's order (KRSC). It adds the gradients that cuDNN gives,
 * bf16 too, to the floats.
 *
 * All others run as ever. Where one of them reads the output of a layer in bf16, or the other way
 * round, the output is there twice. It is converted after the layer's forward pass. Before the
 * layer's backward pass, the deltas that readers made in both types are added up.
 */
typedef struct bf16_arrays {
    int runs; /* the layer runs in bf16; 0: its output and delta are here for layers that do */
    int read_as_floats; /* if it runs in bf16: output_gpu and delta_gpu are there, too, for layers
                           that do not */
    void *output;
    void *delta; /* 0: it takes none */
    void *x;     /* input of BatchNorm, or of an activation whose output does not tell its gradient;
                    else 0 */
    void *input; /* input of the network's first layer; 0 for others */
    void *weights, *weight_updates; /* a [convolutional]'s, in cuDNN's order; else 0 */
    int fused;   /* 1: a [convolutional] that makes the output of the [shortcut] behind it as well,
                    and has none of its own, since no other layer reads it */
    int trained; /* 1: the last forward pass of a fused layer was one of training */
} bf16_arrays;

int bf16_runs(layer l);

/* ---- bf16_plan.c: which layers run in bf16, and their memory ---- */

/* Decide whether layer i runs in bf16, and make its memory. Call when the layer behind it is made,
 * whose type is next; BLANK: there is none. */
void bf16_plan_layer(network *net, int i, LAYER_TYPE next);
/* The most that any layer's convolution needs, now that types are chosen. */
size_t bf16_workspace_size(network *net);
/* After layer i was resized, and those before it. */
void bf16_resize_layer(network *net, int i);
void bf16_free(layer l);

/* ---- bf16_layers.c: forward and backward ---- */

/* Points the layer's forward_gpu and backward_gpu to those of its type. */
void bf16_run_layer(layer *l);
/* Behind the forward pass of a layer with bf16 arrays: its output for those who read it in the
 * other type. */
void bf16_show_output(layer l);
/* Before its backward pass: all that was made of its delta, in the layer's own type. */
void bf16_gather_delta(layer *l);
/* To the host, as floats in Darknet's order, of a layer that runs in bf16. */
void bf16_pull_output(layer l, float *to);
void bf16_pull_delta(layer l, float *to);

/* ---- bf16_kernels.cu, bf16_channels.cu. All arrays of bf16 are NHWC. ---- */

/* Convert outer x channels x inner floats to bf16 with the channels last, and back. With add, add
 * them to what is there. */
void floats_to_bf16_gpu(size_t outer, int channels, int inner, const float *from, int add,
                        void *to);
void bf16_to_floats_gpu(size_t outer, int channels, int inner, const void *from, int add,
                        float *to);

int bf16_has_activation(ACTIVATION a);
/* output, and x where there is one, from what the convolution left in x, or else in output. */
void bf16_normalize_gpu(layer l, network net);
/* Normalize as bf16_normalize_gpu does, and make the output of the shortcut behind the layer, which
 * adds beta*from, in one pass. */
void bf16_normalize_and_add_gpu(layer l, network net, layer shortcut, float alpha,
                                const void *from);
/* Make the output that a fused layer would have, as bf16_normalize_gpu does, from what is left of
 * its forward pass, with the parameters as they are. */
void bf16_normalize_again_gpu(layer l, void *output);
void bf16_add_bias_gpu(layer l);
/* delta from the gradient by the output to that by what the convolution made; updates of scales and
 * biases. */
void bf16_normalize_backward_gpu(layer l, network net);
/* Go back as bf16_normalize_backward_gpu does, from the delta of the shortcut behind the layer.
 * from_delta: as for bf16_shortcut_backward_gpu. */
void bf16_normalize_and_add_backward_gpu(layer l, network net, layer shortcut, float alpha,
                                         int set_from, void *from_delta);
void bf16_add_bias_backward_gpu(layer l, network net);

/* Bytes of the workspace that both backward passes, and forward ones while training, need. */
size_t bf16_sums_size(layer l);

/* set: the delta is written, else added to. */
void bf16_maxpool_gpu(layer l, const void *input);
void bf16_maxpool_backward_gpu(layer l, int set, void *delta);
void bf16_upsample_gpu(layer l, const void *input);
void bf16_upsample_backward_gpu(layer l, int set, void *delta);
void bf16_avgpool_gpu(layer l, const void *input);
void bf16_avgpool_backward_gpu(layer l, int set, void *delta);
/* `channels` of each cell, of from_channels from first_from on, to those of to_channels from
 * first_to on. */
void bf16_copy_channels_gpu(size_t cells, int channels, const void *from, int from_channels,
                            int first_from, int set, void *to, int to_channels, int first_to);
/* input may be 0: nothing. */
void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from);
/* input_delta and from_delta may be 0: nobody takes them. */
void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta);

#endif
#endif
