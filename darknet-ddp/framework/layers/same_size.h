/* layers/same_size.h: resizes layers of four types whose output has the size of their input. */
#ifndef SAME_SIZE_H
#define SAME_SIZE_H

#include "darknet.h"

/* Resize an [activation], [batchnorm], [l2norm] or [logistic] layer to images of w x h pixels, and
 * return 1. It keeps its channels. If the layer has another type, or takes no image, return 0, and
 * leave *l as it is. */
int resize_same_size_layer(layer *l, int w, int h);

/* Resize the layer's output and delta, on host and GPU, to n values, which become undefined. */
void resize_layer_output(layer *l, size_t n);

#endif
