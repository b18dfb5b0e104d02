#include "layers/implicit_layer.h"
#include "blas.h"
#include "cuda.h"
#include "shortcut_layer.h"
#include "utils.h"
#include <stdio.h>

layer make_implicit_layer(int batch, int filters, int atoms, float mean, float spread, int adam)
{
    layer l = {0};
    int i;
    l.type = IMPLICIT;
    l.activation = LINEAR;
    l.batch = batch;
    l.w = l.out_w = 1;
    l.h = l.out_h = atoms;
    l.c = l.out_c = filters;
    l.n = filters;
    l.outputs = l.inputs = l.nweights = filters * atoms;
    l.weights = calloc((size_t)l.nweights, sizeof(float));
    l.weight_updates = calloc((size_t)l.nweights, sizeof(float));
    l.weight_momentum = calloc((size_t)l.nweights, sizeof(float));
    if (adam) {
        l.m = calloc((size_t)l.nweights, sizeof(float));
        l.v = calloc((size_t)l.nweights, sizeof(float));
    }
    for (i = 0; i < l.nweights; ++i)
        l.weights[i] = mean + rand_uniform(-spread, spread);
    l.output = cpu_array((size_t)l.outputs * (size_t)batch);
    l.delta = cpu_array((size_t)l.outputs * (size_t)batch);

    l.forward = forward_implicit_layer;
    l.backward = backward_implicit_layer;
    l.update = update_implicit_layer;
#ifdef GPU
    l.forward_gpu = forward_implicit_layer_gpu;
    l.backward_gpu = backward_implicit_layer_gpu;
    l.output_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
    l.delta_gpu = cuda_make_array(0, (size_t)l.outputs * (size_t)batch);
    make_bare_weights_gpu(&l, adam);
#endif
    fprintf(stderr, "implicit                                     ->  %4d x%4d x%4d\n", l.out_w,
            l.out_h, l.out_c);
    return l;
}

void forward_implicit_layer(layer l, network net)
{
    int b;
    (void)net;
    for (b = 0; b < l.batch; ++b)
        copy_cpu(l.nweights, l.weights, 1, l.output + b * l.nweights, 1);
}

void backward_implicit_layer(layer l, network net)
{
    int b;
    (void)net;
    for (b = 0; b < l.batch; ++b)
        axpy_cpu(l.nweights, 1, l.delta + b * l.nweights, 1, l.weight_updates, 1);
}

void update_implicit_layer(layer l, update_args a)
{
    float rate = a.learning_rate * l.learning_rate_scale;
    optimize_cpu(l.nweights, l.weights, l.weight_updates, l.weight_momentum, l.m, l.v, rate,
                 a.decay, a);
}
