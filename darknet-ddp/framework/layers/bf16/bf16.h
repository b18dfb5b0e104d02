/* layers/bf16/bf16.h: mixed precision, for networks that are made while bf16_wanted is 1.
 *
 * Some layers run in bf16 (bf16_plan.c says which). Their outputs and deltas are bf16 arrays, with
 * channels last (NHWC); a fused layer (bf16_arrays) has no output. Parameters, their gradients,
 * momentum and BatchNorm's statistics stay float32, in Darknet's order, as weights files, updates
 * and allreduces expect. In each forward pass a layer converts its weights to bf16.
 *
 * All other layers run in float32. A layer that layers of the other type read keeps its output and
 * its delta, if any, in both types. After the layer's forward pass, bf16_convert_output converts
 * the output. Before the layer's backward pass, bf16_combine_deltas adds up the deltas.
 *
 * A bf16_backend (backend.h) computes: on a GPU by CUDA and cuDNN, on a CPU by oneDNN and loops. On
 * a GPU the passes queue work on the default stream. A failure ends the program. */
#ifndef BF16_H
#define BF16_H
#include "darknet.h"

/* Set this to 1 before a network is parsed, so that its layers run in bf16 if they can. Leave it so
 * as long as the network may be resized: resize_network reads it, too. */
extern int bf16_wanted;

/* A layer's arrays in bf16; an array that the layer does not need is null. A layer in float32 may
 * have them, too, such as a [convolutional] or one that a layer in bf16 reads. */
typedef struct bf16_arrays {
    int runs;           /* 1: the layer runs in bf16; 0: in float32 */
    int read_as_floats; /* 1: the layer runs in bf16, and a layer in float32 reads it */
    void *output;       /* the layer's output; null if the layer is fused */
    void *delta;        /* gradient of the loss by the output */
    void *x;            /* input of BatchNorm, or of an activation whose gradient needs it */
    void *input;        /* the network's input; in the first layer only */
    void *weights, *weight_updates; /* a convolution's on a GPU, in cuDNN's order; else null */
    struct bf16_convolution *convolution; /* handle of a convolution on a CPU; else null */
    int fused;   /* 1: this [convolutional] also computes the [shortcut] behind it, in one pass */
    int trained; /* 1: the last forward pass of this fused layer was one of training */
} bf16_arrays;

/* Return 1 if the layer runs in bf16. */
int bf16_runs(layer l);

/* ---- bf16_plan.c: which layers run in bf16, and their memory ---- */

/* Decide whether layer i runs in bf16, and allocate its bf16 arrays. Call for each layer in order.
 * `next`: type of layer i + 1; BLANK if i is the last. Ends the program if the device lacks
 * bf16. */
void bf16_plan_layer(network *net, int i, LAYER_TYPE next);
/* Return how many bytes of workspace the network needs. Call after planning all layers. */
size_t bf16_workspace_size(network *net);
/* Resize the bf16 arrays of layer i, if any, to the layer's new size. Call after the layer and all
 * before it got their new sizes. Ends the program if bf16 has no convolution of the new size. */
void bf16_resize_layer(network *net, int i);
/* Free the layer's bf16 arrays, if any. */
void bf16_free(layer l);

/* ---- bf16_layers.c: forward and backward ---- */

/* Set the layer's forward and backward functions, for its device, to those for bf16. */
void bf16_set_passes(layer *l);
/* Convert the layer's output to the other type, if a layer of the other type reads it. Call after
 * the layer's forward pass, if l.bf16 is not null. */
void bf16_convert_output(layer l);
/* Add up the deltas in float32 and in bf16, in the type that the layer runs in. If the layer runs
 * in bf16, and no reader has written a delta, fill it with zeros. Call before the layer's
 * backward pass, if l->bf16 is not null. */
void bf16_combine_deltas(layer *l);
/* Copy the output of a layer that runs in bf16 to `to`, on the host: l.outputs*l.batch floats in
 * Darknet's order. Waits for a GPU. The output of a fused layer is recomputed with its present
 * parameters. */
void bf16_pull_output(layer l, float *to);
/* Copy the delta of a layer that runs in bf16 to `to`, on the host: l.outputs*l.batch floats in
 * Darknet's order. Waits for a GPU. After the backward pass the delta of a [convolutional] or
 * [connected] is the gradient of the convolution's result. */
void bf16_pull_delta(layer l, float *to);

#endif
