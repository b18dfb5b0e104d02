/* layers/same_size.h: layers of Darknet whose output has the size of their input. */
#ifndef SAME_SIZE_H
#define SAME_SIZE_H

#include "darknet.h"

/* Resize an [activation], [batchnorm], [l2norm] or [logistic] layer for an image of w x h pixels,
 * at least 1 each, and return 1. Channels stay as they are. Return 0, with nothing changed, if the
 * layer is of another type or takes no image. */
int resize_same_size_layer(layer *l, int w, int h);

/* Resize output and delta, on the host and on the GPU where they are, to n values each. */
void resize_layer_output(layer *l, size_t n);

#endif
