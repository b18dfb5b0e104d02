#include "layers/deltas.h"

#include "blas.h"
#include "layers/graph.h"

void begin_deltas(network *net, void (*zero)(layer))
{
    int i, k, source;
    for (i = 0; i < net->n; ++i)
        net->layers[i].delta_is_set = FLOAT_DELTA;
    for (i = 0; i < net->n; ++i) {
        for (k = 0; (source = layer_source(net, i, k)) != NO_SOURCE; ++k) {
            layer *l = net->layers + layer_actual_source(net, source, i);
            if (source >= 0 && layer_type_passes_on(l->type))
                l->delta_is_set = 0;
        }
    }
    for (i = 0; i < net->n; ++i)
        if (net->layers[i].delta_is_set)
            zero(net->layers[i]);
}

void prepare_deltas(network net, void (*zero)(layer))
{
    int k, source;
    layer l = net.layers[net.index];
    if (!(l.delta_is_set & FLOAT_DELTA))
        zero(l);
    if (l.sets_deltas)
        return;
    for (k = 0; (source = layer_source(&net, net.index, k)) != NO_SOURCE; ++k)
        if (sets_delta(net, source) && l.type != DROPOUT) // works on the memory of its own delta
            zero(net.layers[layer_actual_source(&net, source, net.index)]);
}

static int is_first(network net, int i, int kind)
{
    if (i < 0)
        return 0;
    layer *l = net.layers + layer_actual_source(&net, i, net.index);
    int first = !(l->delta_is_set & kind);
    l->delta_is_set |= kind;
    return first;
}

int sets_delta(network net, int i)
{
    return is_first(net, i, FLOAT_DELTA);
}

int sets_bf16_delta(network net, int i)
{
    return is_first(net, i, BF16_DELTA);
}

VECTORIZE
void pass_delta(int n, float scale, const float *delta, int set, float *to)
{
    int i;
    if (set)
        for (i = 0; i < n; ++i)
            to[i] = scale * delta[i];
    else
        for (i = 0; i < n; ++i)
            to[i] += scale * delta[i];
}
