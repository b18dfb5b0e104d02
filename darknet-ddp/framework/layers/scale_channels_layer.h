/* layers/scale_channels_layer.h: [scale_channels], a layer of the later forks. Its functions are
 * those that each type of Darknet's layers has. */
#ifndef SCALE_CHANNELS_LAYER_H
#define SCALE_CHANNELS_LAYER_H
#include "layer.h"
#include "network.h"

/* Make a layer that multiplies each channel of layer `index` (w x h x c) by the channel's value in
 * the input (1 x 1 x c). If cells is 1, it multiplies each cell by its value in the input (w x h x
 * 1). */
layer make_scale_channels_layer(int batch, int index, int w, int h, int c, int cells);
void resize_scale_channels_layer(layer *l, network *net);
void forward_scale_channels_layer(layer l, network net);
void backward_scale_channels_layer(layer l, network net);

#ifdef GPU
void forward_scale_channels_layer_gpu(layer l, network net);
void backward_scale_channels_layer_gpu(layer l, network net);
#endif
#endif
