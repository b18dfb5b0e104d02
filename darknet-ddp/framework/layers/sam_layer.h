/* layers/sam_layer.h: [sam], a layer of the later forks that multiplies two outputs value by value.
 * Its functions are those that each type of Darknet's layers has. */
#ifndef SAM_LAYER_H
#define SAM_LAYER_H
#include "layer.h"
#include "network.h"

/* Make a [sam] layer: its output is input * layer `index`'s output, value by value, w x h x c. */
layer make_sam_layer(int batch, int index, int w, int h, int c);
void resize_sam_layer(layer *l, int w, int h);
void forward_sam_layer(layer l, network net);
void backward_sam_layer(layer l, network net);

#ifdef GPU
void forward_sam_layer_gpu(layer l, network net);
void backward_sam_layer_gpu(layer l, network net);
#endif
#endif
