#ifndef SCALE_CHANNELS_LAYER_H
#define SCALE_CHANNELS_LAYER_H
#include "layer.h"
#include "network.h"

/* Each channel of layer `index` (w x h x c) times its value in the input (1 x 1 x c); with cells,
   each cell times its value there (w x h x 1). */
layer make_scale_channels_layer(int batch, int index, int w, int h, int c, int cells);
void resize_scale_channels_layer(layer *l, network *net);
void forward_scale_channels_layer(layer l, network net);
void backward_scale_channels_layer(layer l, network net);

#ifdef GPU
void forward_scale_channels_layer_gpu(layer l, network net);
void backward_scale_channels_layer_gpu(layer l, network net);
#endif
#endif
