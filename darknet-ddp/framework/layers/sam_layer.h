#ifndef SAM_LAYER_H
#define SAM_LAYER_H
#include "layer.h"
#include "network.h"

/* The input times layer `index`, which is as large, value by value. */
layer make_sam_layer(int batch, int index, int w, int h, int c);
void resize_sam_layer(layer *l, int w, int h);
void forward_sam_layer(layer l, network net);
void backward_sam_layer(layer l, network net);

#ifdef GPU
void forward_sam_layer_gpu(layer l, network net);
void backward_sam_layer_gpu(layer l, network net);
#endif
#endif
