/* layers/forks_layers.h: the layer types that later forks of Darknet added (forks_layers.def). Each
 * has its functions in NAME_layer.c, those for a GPU in forks_kernels.cu. */
#ifndef FORKS_LAYERS_H
#define FORKS_LAYERS_H

#include "layer.h"
#include "list.h"
#include "network.h"
#include "parser.h"

/* Functions of each type:
 *   parse     Return the layer of a cfg section: its shape (w, h, c and out_w, out_h, out_c),
 *             activation, index and weights, and print its line of the table of layers. Report a
 *             wrong value by option_error.
 *   resize    Set the shape after the layers that it reads were resized.
 *   forward   Write l.output.
 *   backward  Add to the deltas of the layers that it reads, and to l.weight_updates, if any.
 *   _gpu      forward and backward on a GPU. */
#define FORKS_LAYER(type, name, reads, keys)                                                       \
    layer parse_##name##_layer(list *options, size_params params);                                 \
    void resize_##name##_layer(layer *l, network *net);                                            \
    void forward_##name##_layer(layer l, network net);                                             \
    void backward_##name##_layer(layer l, network net);                                            \
    void forward_##name##_layer_gpu(layer l, network net);                                         \
    void backward_##name##_layer_gpu(layer l, network net);
#include "layers/forks_layers.def"

/* Set *l to the layer of a cfg section, with its functions, output and delta, and return 1. If
 * `type` is not in the table, return 0, and leave *l. */
int parse_forks_layer(layer *l, LAYER_TYPE type, list *options, size_params params);

/* Resize layer l of net after the layers that it reads, and return 1. If its type is not in the
 * table, return 0, and leave *l. */
int resize_forks_layer(layer *l, network *net);

/* Return the index of the layer that a section's key `from` names; for a parse function. End the
 * program (option_error) if that layer, or the one before the section, takes no gradient. */
int find_other_source(list *options, size_params params);

#endif
