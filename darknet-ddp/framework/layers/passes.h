/* layers/passes.h: the forward pass, the backward pass and the update of a network, layer by layer.
 *
 * passes.c has the loops: Darknet's forward_network, backward_network and update_network. A
 * pass_device has what differs between a CPU and a GPU. A pass chooses one by net->gpu_index.
 * Queued work on a GPU may still run when a member returns. */
#ifndef PASSES_H
#define PASSES_H

#include "darknet.h"

typedef struct {
    /* Make the device current, and copy net's input and truth to it. */
    void (*begin_forward)(network *net);
    /* Run the forward pass of layer l, net->index; then point net's input to its output, and for a
     * layer with truth=1 net's truth, too. */
    void (*forward)(layer l, network *net);
    /* Set *net->cost to the mean of the losses of all layers that have one. On a GPU, end_backward
     * does it in training; in a prediction without truth the cost stays. */
    void (*end_forward)(network *net);
    /* Begin the backward pass of layer l, net->index: point net's input and delta to those of the
     * layer before it. For the first layer, take those of `whole`, the caller's network. If l has
     * deltas in float32 and bf16, add them up. Return 0 if l needs no backward pass: the layer
     * before it takes no delta, and l has no parameters. */
    int (*enter)(layer *l, network *net, const network *whole);
    void (*backward)(layer l, network net);
    /* End the network's backward pass: in training on a GPU, set *net->cost. */
    void (*end_backward)(network *net);
    void (*update)(layer l, update_args a);
    /* Fill the layer's float32 delta, if it has one, with zeros. */
    void (*zero)(layer l);
} pass_device;

#ifdef GPU
extern const pass_device pass_on_gpu;

/* Free the second input array, its stream and its events, if there are any; training makes them
 * anew. Call when the network's size changes and when it is freed. */
void free_input_arrays(network *net);
/* Free the arrays and the event by which losses come from the GPU, if there are any. Call when the
 * network is freed: no pass may run afterwards. */
void free_cost_arrays(network *net);
#endif

#endif
