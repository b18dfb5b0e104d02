#include "layers/sam_layer.h"
#include "activations.h"
#include "blas.h"
#include "cuda.h"
#include <stdio.h>

layer make_sam_layer(int batch, int index, int w, int h, int c)
{
    layer l = {0};
    l.type = SAM;
    l.batch = batch;
    l.index = index;
    l.w = l.out_w = w;
    l.h = l.out_h = h;
    l.c = l.out_c = c;
    l.inputs = l.outputs = w * h * c;
    l.output = cpu_array((size_t)l.outputs * (size_t)batch);
    l.delta = cpu_array((size_t)l.outputs * (size_t)batch);

    l.forward = forward_sam_layer;
    l.backward = backward_sam_layer;
#ifdef GPU
    l.forward_gpu = forward_sam_layer_gpu;
    l.backward_gpu = backward_sam_layer_gpu;
    l.output_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
    l.delta_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
#endif
    fprintf(stderr, "sam  %3d                %4d x%4d x%4d   ->  %4d x%4d x%4d\n", index, w, h, c,
            w, h, c);
    return l;
}

void resize_sam_layer(layer *l, int w, int h)
{
    l->w = l->out_w = w;
    l->h = l->out_h = h;
    l->inputs = l->outputs = w * h * l->out_c;
    l->output = resize_cpu_array(l->output, (size_t)l->outputs * (size_t)l->batch);
    l->delta = resize_cpu_array(l->delta, (size_t)l->outputs * (size_t)l->batch);
#ifdef GPU
    l->output_gpu = cuda_resize_array(l->output_gpu, (size_t)l->outputs * (size_t)l->batch);
    l->delta_gpu = cuda_resize_array(l->delta_gpu, (size_t)l->outputs * (size_t)l->batch);
#endif
    make_activation_input(l);
}

VECTORIZE
static void multiply(int n, const float *restrict a, const float *restrict b, float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] = a[i] * b[i];
}

VECTORIZE
static void add_products(int n, const float *restrict a, const float *restrict b,
                         float *restrict out)
{
    int i;
    for (i = 0; i < n; ++i)
        out[i] += a[i] * b[i];
}

void forward_sam_layer(layer l, network net)
{
    multiply(l.outputs * l.batch, net.input, net.layers[l.index].output, l.output);
    activate_layer(l);
}

void backward_sam_layer(layer l, network net)
{
    layer from = net.layers[l.index];
    gradient_layer(l);
    add_products(l.outputs * l.batch, l.delta, from.output, net.delta);
    add_products(l.outputs * l.batch, l.delta, net.input, from.delta);
}
