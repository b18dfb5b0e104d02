/* layers/bf16/bf16.h: mixed precision, for a network that is made while bf16_wanted is set.
 *
 * Some layers run in bf16 (bf16_plan.c says which): their outputs, their deltas and what backward
 * needs between them are bf16, and channels come last (NHWC). Parameters, their gradients, momentum
 * and BatchNorm's statistics stay floats in Darknet's own order. So weights files, updates and
 * plugins need not know of bf16. In each forward pass a layer converts its weights to bf16.
 *
 * All other layers run in float32. If a layer is read by layers of the other type, its output is
 * kept in both. bf16_show_output converts it after the layer's forward pass. Before its backward
 * pass, bf16_gather_delta adds up the deltas that readers wrote in both types.
 *
 * What computes is a bf16_backend (backend.h): CUDA and cuDNN on a GPU, oneDNN and loops on a CPU.
 * Functions on a GPU queue work on the default stream. A failure ends the program. Flags named set,
 * set_from: 1 writes the delta, 0 adds to it. */
#ifndef BF16_H
#define BF16_H
#include "darknet.h"

/* 1: layers of networks made from now on run in bf16 if they can. Set it before a network is
 * parsed. */
extern int bf16_wanted;

typedef struct bf16_arrays {
    int runs; /* 1: the layer runs in bf16. 0: in float32; `output` and `delta` are for layers in
                 bf16 that read it */
    int read_as_floats; /* 1: in bf16, with output and delta in float32, too, for other layers */
    void *output;       /* in bf16; null if the layer is fused */
    void *delta;        /* gradient by the output, in bf16; null if the layer takes none */
    void *x;     /* input of BatchNorm, or of an activation whose gradient reads x; else null */
    void *input; /* the network's input in bf16, in its first layer; else null */
    void *weights, *weight_updates; /* bf16 of a convolution on a GPU, in cuDNN's order; or null */
    struct bf16_convolution *convolution; /* a convolution's on a CPU (host.h); else null */
    int fused; /* 1: a [convolutional] that also computes the [shortcut] behind it. This layer keeps
                  no output of its own: no other layer reads one */
    int trained; /* 1: a fused layer's last forward pass was one of training */
} bf16_arrays;

/* Return 1 if the layer runs in bf16. */
int bf16_runs(layer l);

/* ---- bf16_plan.c: which layers run in bf16, and their memory ---- */

/* Decide whether layer i runs in bf16, and make its memory. Call for each layer in turn, when the
 * type of the layer behind it is known: `next`; BLANK if i is the last. Ends the program if the
 * device cannot compute in bf16. */
void bf16_plan_layer(network *net, int i, LAYER_TYPE next);
/* Return the bytes of the largest workspace that a layer needs. Call when all are planned. */
size_t bf16_workspace_size(network *net);
/* Resize the bf16 arrays of layer i, if any. Call when it and the layers before it are resized.
 * Ends the program if a convolution of the new size cannot be computed in bf16. */
void bf16_resize_layer(network *net, int i);
/* Free the layer's bf16 arrays, if it has some. */
void bf16_free(layer l);

/* ---- bf16_layers.c: forward and backward ---- */

/* Point the layer's forward and backward, on its device, to the bf16 functions of its type. */
void bf16_run_layer(layer *l);
/* Convert the layer's output for readers of the other type, if there are any. Call after the
 * forward pass of a layer whose l.bf16 is not null. */
void bf16_show_output(layer l);
/* Add up the deltas that readers wrote in bf16 and in float32, in the layer's own type. If the
 * layer runs in bf16 and nobody wrote one, fill its delta with zeros. Call before its backward
 * pass, if l->bf16 is not null. */
void bf16_gather_delta(layer *l);
/* Copy the output or delta of a layer that runs in bf16 to `to`, on the host: l.outputs*l.batch
 * floats in Darknet's order. Waits for a GPU. A fused layer's output is computed again, with its
 * present parameters. After its backward pass the delta of a [convolutional] or
 * [connected] is the gradient by its convolution's result. */
void bf16_pull_output(layer l, float *to);
void bf16_pull_delta(layer l, float *to);

#endif
