/* layers/passes.h: the forward pass, backward pass and update of a network, layer by layer.
 *
 * passes.c has Darknet's forward_network, backward_network and update_network, one loop each for
 * all devices. A pass_device is a table of what differs between a CPU and a GPU; net->gpu_index
 * chooses it. On a GPU its functions may return before the work that they have queued is done. */
#ifndef PASSES_H
#define PASSES_H

#include "darknet.h"

typedef struct {
    /* Begin a forward pass. On a GPU, make it current, and copy net's input and truth to it. They
     * must not change until end_backward, or in a prediction end_forward, returns. */
    void (*begin_forward)(network *net);
    /* Run the forward pass of layer l, net->index, then point net's input to its output. If the
     * layer has truth=1, also point net's truth there. */
    void (*forward)(layer l, network *net);
    /* End a forward pass, and set *net->cost to the mean of the layers' losses. On a GPU, training
     * leaves this to end_backward, and a prediction without truth does not change *net->cost. */
    void (*end_forward)(network *net);
    /* Begin the backward pass of layer l, net->index: add up its deltas (bf16_combine_deltas), and
     * point net's input and delta to those of the layer before. The first layer gets those of
     * `whole`, the caller's network. Return 0 if the caller must leave out `backward`: l has no
     * parameters, and the layer before takes no delta. Else return 1. */
    int (*begin_backward)(layer *l, network *net, const network *whole);
    void (*backward)(layer l, network net);
    /* End a backward pass. On a GPU in training, wait for the losses, and set *net->cost. */
    void (*end_backward)(network *net);
    void (*update)(layer l, update_args a);
    /* Fill the layer's float32 delta, if it has one, with zeros. */
    void (*zero_delta)(layer l);
} pass_device;

#ifdef GPU
extern const pass_device pass_on_gpu;

/* Free what a GPU's net has for copying its next input: array, stream and events, if any. Training
 * makes them again. Call when the network's size changes, and when it is freed. */
void free_input_arrays(network *net);
/* Free what a GPU's net has for copying losses to the host, if any. Call when the net is freed. */
void free_cost_arrays(network *net);
#endif

#endif
