/* [implicit]: a layer of the later forks whose 1 x atoms x filters weights are its output, the same
 * for each image. */
#include "layers/forks_layers.h"

#include "blas.h"
#include "cuda.h"
#include "option_list.h"
#include "shortcut_layer.h"
#include "utils.h"
#include <stdio.h>
#include <stdlib.h>

static void update_implicit_layer(layer l, update_args a)
{
    float rate = a.learning_rate * l.learning_rate_scale;
    optimize_cpu(l.nweights, l.weights, l.weight_updates, l.weight_momentum, l.m, l.v, rate,
                 a.decay, a);
}

layer parse_implicit_layer(list *options, size_params params)
{
    layer l = {0};
    int i, filters = option_find_positive(options, "filters", 128);
    option_check_positive(options, "atoms");
    int atoms = option_find_int_quiet(options, "atoms", 1);
    float mean = option_find_float(options, "mean", 0);
    float spread = option_find_float(options, "std", .2f);
    check_size(params, 1, atoms, filters, (double)atoms * filters);
    l.activation = LINEAR;
    l.w = l.out_w = 1;
    l.h = l.out_h = atoms;
    l.n = l.c = l.out_c = filters;
    l.nweights = filters * atoms;
    l.weights = calloc((size_t)l.nweights, sizeof(float));
    l.weight_updates = calloc((size_t)l.nweights, sizeof(float));
    l.weight_momentum = calloc((size_t)l.nweights, sizeof(float));
    if (params.net->adam) {
        l.m = calloc((size_t)l.nweights, sizeof(float));
        l.v = calloc((size_t)l.nweights, sizeof(float));
    }
    for (i = 0; i < l.nweights; ++i)
        l.weights[i] = mean + rand_uniform(-spread, spread);
    l.update = update_implicit_layer;
#ifdef GPU
    make_bare_weights_gpu(&l, params.net->adam);
#endif
    fprintf(stderr, "implicit                                     ->  %4d x%4d x%4d\n", l.out_w,
            l.out_h, l.out_c);
    return l;
}

/* Its size is that of its weights, whatever the network's. */
void resize_implicit_layer(layer *l, network *net)
{
    (void)l;
    (void)net;
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
