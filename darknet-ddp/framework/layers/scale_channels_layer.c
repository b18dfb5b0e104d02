/* [scale_channels]: a layer of Darknet's forks that scales the output of layer l.index, and then
 * applies its activation. The layer's input has one value for each channel, which multiplies the
 * whole channel. With scale_wh=1 (l.spatial) the input has one channel instead, and each of its
 * values multiplies all channels at that cell. */
#include "layers/forks_layers.h"

#include "activations.h"
#include "blas.h"
#include "option_list.h"
#include <stdio.h>

void resize_scale_channels_layer(layer *l, network *net)
{
    layer from = net->layers[l->index];
    l->out_w = from.out_w;
    l->out_h = from.out_h;
    l->w = l->spatial ? from.out_w : 1;
    l->h = l->spatial ? from.out_h : 1;
}

layer parse_scale_channels_layer(list *options, size_params params)
{
    layer l = {0};
    l.index = find_other_source(options, params);
    l.spatial = option_find_int_quiet(options, "scale_wh", 0);
    layer from = params.net->layers[l.index];
    if (!l.spatial && params.c * params.h * params.w != from.out_c)
        option_error(options, "from",
                     "its channels are not as many as the values before this layer");
    if (l.spatial && (params.c != 1 || params.h != from.out_h || params.w != from.out_w))
        option_error(options, "from",
                     "with scale_wh=1 the layer before must be as wide and high, and have one "
                     "channel");
    l.c = l.spatial ? 1 : from.out_c;
    l.out_c = from.out_c;
    resize_scale_channels_layer(&l, params.net);
    l.activation = option_find_activation(options, "linear", 1);
    fprintf(stderr, "scale %d %s  %4d x%4d x%4d   ->  %4d x%4d x%4d\n", l.index,
            l.spatial ? "cells" : "     ", l.w, l.h, l.c, l.out_w, l.out_h, l.out_c);
    return l;
}

VECTORIZE
static void scale_channel(int n, const float *restrict x, float scale, const float *restrict scales,
                          float *restrict out)
{
    int i;
    if (scales)
        for (i = 0; i < n; ++i)
            out[i] = x[i] * scales[i];
    else
        for (i = 0; i < n; ++i)
            out[i] = x[i] * scale;
}

void forward_scale_channels_layer(layer l, network net)
{
    int i;
    int cells = l.out_w * l.out_h;
    size_t step = (size_t)cells;
    float *from = net.layers[l.index].output;
    for (i = 0; i < l.batch * l.out_c; ++i) { // a channel of an image at a time
        const float *scales = l.spatial ? net.input + (size_t)(i / l.out_c) * step : 0;
        scale_channel(cells, from + (size_t)i * step, scales ? 0 : net.input[i], scales,
                      l.output + (size_t)i * step);
    }
    activate_layer(l);
}

// scale_delta adds up a channel's, unless scales has a value for each cell
VECTORIZE
static void backward_channel(int n, const float *restrict delta, const float *restrict x,
                             float scale, const float *restrict scales, float *restrict x_delta,
                             float *restrict scale_delta)
{
    int i;
    float sum = 0;
    for (i = 0; i < n; ++i)
        x_delta[i] += delta[i] * (scales ? scales[i] : scale);
    if (scales) {
        for (i = 0; i < n; ++i)
            scale_delta[i] += delta[i] * x[i];
        return;
    }
    for (i = 0; i < n; ++i)
        sum += delta[i] * x[i];
    *scale_delta += sum;
}

void backward_scale_channels_layer(layer l, network net)
{
    int i;
    int cells = l.out_w * l.out_h;
    layer from = net.layers[l.index];
    gradient_layer(l);
    for (i = 0; i < l.batch * l.out_c; ++i) {
        size_t at = (size_t)i * (size_t)cells,
               scale_at = l.spatial ? (size_t)(i / l.out_c) * (size_t)cells : (size_t)i;
        const float *scales = l.spatial ? net.input + scale_at : 0;
        backward_channel(cells, l.delta + at, from.output + at, scales ? 0 : net.input[i], scales,
                         from.delta + at, net.delta + scale_at);
    }
}
