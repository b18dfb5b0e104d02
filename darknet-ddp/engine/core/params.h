/* core/params.h: the parameter table, by which the engine knows a network's parameters.
 *
 * A network is a list of layers, numbered 0 to layer_count-1 from input to output. A layer may have
 * parameters (a value and a gradient of the same size) and buffers (running statistics, without a
 * gradient). framework/glue makes the table. The engine changes the framework's own pointers
 * (slots), so that the gradients of a bucket, and all buffers, lie side by side. */
#ifndef DDP_CORE_PARAMS_H
#define DDP_CORE_PARAMS_H

#include "device/device.h"

#include <stddef.h>

enum { DDP_OPTIMIZER_BUFFERS = 3 }; /* most buffers of the optimizer for a parameter */

/* The optimizer's buffers of one parameter, each of the parameter's size; the framework owns them.
 * buffer[k] is NULL after the last one. A moment's buffer[k] is NULL, too, in a GPU's table that
 * was made while ranks had parts of the moments (core/sharded.h). */
typedef struct ddp_optimizer {
    float *buffer[DDP_OPTIMIZER_BUFFERS];
    const char *name[DDP_OPTIMIZER_BUFFERS]; /* names for files and messages: "momentum" */
    int moments; /* the first `moments` buffers are moments, which an update reads and changes */
    /* Address of the framework's own pointer to buffer[k]. In a GPU's table, *slot[k] may be
     * replaced: free its memory by ddp_device_free, then set it to NULL or memory of
     * ddp_device_alloc. buffer[k] keeps the old address. */
    float **slot[DDP_OPTIMIZER_BUFFERS];
    /* the framework's copy of buffer[k] on the host; in the host's table buffer[k] itself */
    float *host[DDP_OPTIMIZER_BUFFERS];
} ddp_optimizer;

typedef struct ddp_param {
    int layer;             /* index of the layer in the network */
    const char *kind;      /* the layer's type, for messages: "convolutional" */
    const char *part;      /* which parameter of the layer, for messages: "weights", "wf biases" */
    size_t count;          /* how many elements it has; never 0 */
    float *value;          /* its `count` values, on the table's device, owned by the framework */
    float **gradient_slot; /* address of the framework's own pointer to the gradient */
    ddp_optimizer optimizer;
    size_t rows; /* rows of the weight matrix as it lies in memory; 0: the parameter is no matrix */
} ddp_param;

/* Running statistics of a layer, without a gradient; layer, kind and part as in ddp_param. */
typedef struct ddp_buffer {
    int layer;
    const char *kind;
    const char *part;
    size_t count; /* how many floats it has */
    double keep;  /* fraction of the old value that a mini-batch's forward pass keeps */
    float **slot; /* address of the framework's own pointer to the buffer, on the table's device */
} ddp_buffer;

/* The parameter table of a network. Parameters and buffers are sorted by layer, and within a layer
 * in the framework's order. Strings are static. */
typedef struct ddp_param_table {
    ddp_device *device; /* where values, gradients, buffers and optimizer buffers are */
    int layer_count;    /* how many layers the network has, with and without parameters */
    size_t param_count;
    ddp_param *params;
    size_t buffer_count;
    ddp_buffer *buffers;
    int first_trained; /* layers below this one are frozen: they never run backward */
    /* block[l]: number, from 1, of the block of layer l, whose layers an algorithm drops together
     * (ddp_reducer_drop_layers); 0: it is in no block. NULL: no layer is in a block. Borrowed */
    const int *block;
} ddp_param_table;

/* Return how many moments of a parameter are changed by updates: none if its layer is frozen. */
static inline int ddp_moments_trained(const ddp_param_table *table, const ddp_param *param)
{
    return param->layer >= table->first_trained ? param->optimizer.moments : 0;
}

#endif
