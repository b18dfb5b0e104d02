/* layers/passes.h: the forward pass, the backward pass and the update of a network, layer by layer.
 *
 * passes.c has the loops, which Darknet's forward_network, backward_network and update_network are.
 * A pass_device is what differs between a CPU and a GPU; a pass chooses it once, by net->gpu_index.
 */
#ifndef PASSES_H
#define PASSES_H

#include "darknet.h"

typedef struct {
    /* Make the device the one that calls are for, and bring it net's input and truth. */
    void (*begin_forward)(network *net);
    /* Run the forward pass of layer net->index, then point net's input, and its truth, to what
     * comes of it. */
    void (*forward)(layer l, network *net);
    /* Sum the losses of all layers into *net->cost. A GPU may do it in end_backward. */
    void (*end_forward)(network *net);
    /* Begin the backward pass of layer net->index, l. Add to its delta what its readers passed back
     * in another type. Point net's input and delta to those of the layer before it. Return 0 if l
     * needs no backward pass: that layer takes no gradient, and l has no parameters. */
    int (*enter)(layer *l, network *net, const network *whole);
    void (*backward)(layer l, network net);
    void (*end_backward)(network *net);
    void (*update)(layer l, update_args a);
    /* Fill the layer's delta, if it has one, with zeros. */
    void (*zero)(layer l);
} pass_device;

#ifdef GPU
extern const pass_device pass_on_gpu;

/* Free what training has for the next input, while the network's size changes or when it is freed.
 */
void free_input_arrays(network *net);
/* Free the memory for losses. */
void free_cost_arrays(network *net);
#endif

#endif
