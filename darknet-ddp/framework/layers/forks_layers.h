/* layers/forks_layers.h: layer types of later forks of Darknet, a row each in forks_layers.def.
 * Each type has its functions in NAME_layer.c, those for a GPU in forks_kernels.cu.
 *
 * A parse function sets shape (w, h, c and out_w, out_h, out_c) and activation, and if the type has
 * them, index, weights and update. It prints the layer's line of the table of layers. A wrong value
 * ends the program. */
#ifndef FORKS_LAYERS_H
#define FORKS_LAYERS_H

#include "layer.h"
#include "list.h"
#include "network.h"
#include "parser.h"

/* Declare the functions of a type, a row of forks_layers.def:
 *   parse      return the layer of a cfg section; parse_forks_layer adds output and delta
 *   resize     set the shape, after the layers that it reads were resized
 *   forward    write l.output (_gpu: l.output_gpu)
 *   backward   add to the deltas of the layers that it reads, and to l.weight_updates, if any */
#define FORKS_LAYER(type, name, reads, keys)                                                       \
    layer parse_##name##_layer(list *options, size_params params);                                 \
    void resize_##name##_layer(layer *l, network *net);                                            \
    void forward_##name##_layer(layer l, network net);                                             \
    void backward_##name##_layer(layer l, network net);                                            \
    void forward_##name##_layer_gpu(layer l, network net);                                         \
    void backward_##name##_layer_gpu(layer l, network net);
#include "layers/forks_layers.def"

/* Set *l to the layer of a cfg section, with its functions, output and delta, and return 1. If
 * `type` is not in the table, return 0, and leave *l as it is. */
int parse_forks_layer(layer *l, LAYER_TYPE type, list *options, size_params params);

/* Resize layer l of net, after the layers that it reads, and return 1. If its type is not in the
 * table, return 0, and leave *l as it is. */
int resize_forks_layer(layer *l, network *net);

/* Return the index of the one earlier layer that a section's key `from` names; else end the
 * program. End it also if that layer, or the one before the section, takes no gradient. */
int find_other_source(list *options, size_params params);

#endif
