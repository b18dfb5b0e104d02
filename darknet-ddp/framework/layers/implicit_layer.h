/* layers/implicit_layer.h: [implicit], a layer of the later forks whose weights are its output. Its
 * functions are those that each type of Darknet's layers has. */
#ifndef IMPLICIT_LAYER_H
#define IMPLICIT_LAYER_H
#include "layer.h"
#include "network.h"

/* Make an [implicit] layer: its 1 x atoms x filters weights are its output, the same for each
 * image. First values are drawn evenly from mean - spread to mean + spread. With adam 1 it
 * also gets the arrays that Adam needs. */
layer make_implicit_layer(int batch, int filters, int atoms, float mean, float spread, int adam);
void forward_implicit_layer(layer l, network net);
void backward_implicit_layer(layer l, network net);
void update_implicit_layer(layer l, update_args a);

#ifdef GPU
void forward_implicit_layer_gpu(layer l, network net);
void backward_implicit_layer_gpu(layer l, network net);
#endif
#endif
