/* layers/onednn/layer_shape.h: the shape of a [convolutional] layer's convolution. */
#ifndef LAYERS_ONEDNN_LAYER_SHAPE_H
#define LAYERS_ONEDNN_LAYER_SHAPE_H

#include "darknet.h"
#include "layers/onednn/convolution.h"

/* Return the shape of layer l's convolution for `images` images: of floats, without bias,
 * activation and sum. */
static inline convolution_shape layer_shape(const layer *l, int images)
{
    return (convolution_shape){
        .images = images,
        .channels = l->c,
        .height = l->h,
        .width = l->w,
        .filters = l->n,
        .size = l->size,
        .stride_x = l->stride_x,
        .stride_y = l->stride_y,
        .pad = l->pad,
        .dilation = l->dilation,
        .groups = l->groups,
        .activation = LINEAR,
    };
}

#endif
