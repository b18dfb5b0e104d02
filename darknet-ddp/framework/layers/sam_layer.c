/* [sam], a layer of later forks of Darknet: multiplies its input, element by element, by the output
 * of layer l.index, which has the same size. Then it applies its activation. */
#include "layers/forks_layers.h"

#include "activations.h"
#include "blas.h"
#include "option_list.h"
#include <stdio.h>

layer parse_sam_layer(list *options, size_params params)
{
    layer l = {0};
    l.index = find_other_source(options, params);
    layer from = params.net->layers[l.index];
    check_image(params, "sam");
    if (params.c != from.out_c || params.h != from.out_h || params.w != from.out_w)
        option_error(options, "from", "not of the size of the layer before this one");
    l.c = l.out_c = params.c;
    l.w = l.out_w = params.w;
    l.h = l.out_h = params.h;
    l.activation = option_find_activation(options, "linear", 1);
    fprintf(stderr, "sam  %3d                %4d x%4d x%4d   ->  %4d x%4d x%4d\n", l.index, l.w,
            l.h, l.c, l.w, l.h, l.c);
    return l;
}

void resize_sam_layer(layer *l, network *net)
{
    l->w = l->out_w = net->layers[l->index].out_w;
    l->h = l->out_h = net->layers[l->index].out_h;
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
