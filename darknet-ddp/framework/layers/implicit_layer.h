#ifndef IMPLICIT_LAYER_H
#define IMPLICIT_LAYER_H
#include "layer.h"
#include "network.h"

/* 1 x atoms x filters weights that are the output of each image; their first values are drawn from
 * mean - spread to mean + spread. */
layer make_implicit_layer(int batch, int filters, int atoms, float mean, float spread, int adam);
void forward_implicit_layer(layer l, network net);
void backward_implicit_layer(layer l, network net);
void update_implicit_layer(layer l, update_args a);

#ifdef GPU
void forward_implicit_layer_gpu(layer l, network net);
void backward_implicit_layer_gpu(layer l, network net);
#endif
#endif
