#include "layers/scale_channels_layer.h"
#include "activations.h"
#include "blas.h"
#include "cuda.h"
#include <stdio.h>

layer make_scale_channels_layer(int batch, int index, int w, int h, int c, int cells)
{
    layer l = {0};
    l.type = SCALE_CHANNELS;
    l.batch = batch;
    l.index = index;
    l.spatial = cells;
    l.out_w = w;
    l.out_h = h;
    l.out_c = c;
    l.w = cells ? w : 1;
    l.h = cells ? h : 1;
    l.c = cells ? 1 : c;
    l.inputs = l.w * l.h * l.c;
    l.outputs = w * h * c;
    l.output = cpu_array((size_t)l.outputs * (size_t)batch);
    l.delta = cpu_array((size_t)l.outputs * (size_t)batch);

    l.forward = forward_scale_channels_layer;
    l.backward = backward_scale_channels_layer;
#ifdef GPU
    l.forward_gpu = forward_scale_channels_layer_gpu;
    l.backward_gpu = backward_scale_channels_layer_gpu;
    l.output_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
    l.delta_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
#endif
    fprintf(stderr, "scale %d %s  %4d x%4d x%4d   ->  %4d x%4d x%4d\n", index,
            cells ? "cells" : "     ", l.w, l.h, l.c, w, h, c);
    return l;
}

void resize_scale_channels_layer(layer *l, network *net)
{
    layer from = net->layers[l->index];
    l->out_w = from.out_w;
    l->out_h = from.out_h;
    if (l->spatial) {
        l->w = l->out_w;
        l->h = l->out_h;
    }
    l->inputs = l->w * l->h * l->c;
    l->outputs = l->out_w * l->out_h * l->out_c;
    l->output = resize_cpu_array(l->output, (size_t)l->outputs * (size_t)l->batch);
    l->delta = resize_cpu_array(l->delta, (size_t)l->outputs * (size_t)l->batch);
#ifdef GPU
    l->output_gpu = cuda_resize_array(l->output_gpu, (size_t)l->outputs * (size_t)l->batch);
    l->delta_gpu = cuda_resize_array(l->delta_gpu, (size_t)l->outputs * (size_t)l->batch);
#endif
    make_activation_input(l);
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
