#include "layers/bf16/backend.h"

#include "layers/deltas.h"
#include "layers/graph.h"
#include "shortcut_layer.h"
#include "utils.h"

#include <stdlib.h>

/*
 * The forward and backward passes of layers in bf16. A layer finds its input in bf16: the layer
 * that it reads has converted its output, if need be (bf16_convert_output). The first layer
 * converts the network's input itself.
 */

static size_t cells_of(layer l)
{
    return (size_t)l.out_w * (size_t)l.out_h * (size_t)l.batch;
}

static size_t values_of(layer l)
{
    return (size_t)l.outputs * (size_t)l.batch;
}

// Images of these sizes; what is no image lies pixel by pixel already.
static void to_halves(layer l, const float *from, int set, void *to)
{
    int has_pixels = l.out_w * l.out_h * l.out_c == l.outputs;
    bf16_backend_here()->from_floats((size_t)l.batch, has_pixels ? l.out_c : l.outputs,
                                     has_pixels ? l.out_w * l.out_h : 1, from, set, to);
}

static void to_floats(layer l, const void *from, int set, float *to)
{
    int has_pixels = l.out_w * l.out_h * l.out_c == l.outputs;
    bf16_backend_here()->to_floats((size_t)l.batch, has_pixels ? l.out_c : l.outputs,
                                   has_pixels ? l.out_w * l.out_h : 1, from, set, to);
}

static bf16_arrays *read_layer(network net, int i)
{
    return net.layers[layer_actual_source(&net, i, net.index)].bf16;
}

// The output of layer i in bf16. i is -1: the network's input, which is converted here.
static const void *input_from(layer l, network net, int i)
{
    if (i >= 0)
        return read_layer(net, i)->output;
    const bf16_backend *b = bf16_backend_here();
    b->from_floats((size_t)l.batch, l.c, l.w * l.h, b->network_input(net), 1, l.bf16->input);
    return l.bf16->input;
}

// Where layer i wants its delta, 0: it takes none. set: nobody has written to it in this pass; now
// somebody has.
static void *delta_for(network net, int i, int *set)
{
    bf16_arrays *a = i >= 0 ? read_layer(net, i) : 0;
    *set = 0;
    if (!a || !a->delta)
        return 0;
    *set = sets_bf16_delta(net, i);
    return a->delta;
}

// ---- between types ----

static float *floats_of(layer *l)
{
    return *bf16_backend_here()->float_output(l);
}

static float *float_delta_of(layer *l)
{
    return *bf16_backend_here()->float_delta(l);
}

void bf16_convert_output(layer l)
{
    bf16_arrays *a = l.bf16;
    if (!a->runs && a->output)
        to_halves(l, floats_of(&l), 1, a->output);
    if (a->runs && a->read_as_floats)
        to_floats(l, a->output, 1, floats_of(&l));
}

void bf16_combine_deltas(layer *l)
{
    bf16_arrays *a = l->bf16;
    float *delta = float_delta_of(l);
    int floats = delta && l->delta_is_set & FLOAT_DELTA, halves = l->delta_is_set & BF16_DELTA;
    if (!a->runs && a->delta && halves) {
        to_floats(*l, a->delta, !floats, delta);
        l->delta_is_set |= FLOAT_DELTA;
    } else if (a->runs && floats) {
        to_halves(*l, delta, !halves, a->delta);
    } else if (a->runs && !halves) {
        bf16_backend_here()->zero(a->delta, values_of(*l)); // nobody reads it
    }
}

static void pull(layer l, const void *from, float *to)
{
    const bf16_backend *b = bf16_backend_here();
    size_t n = values_of(l);
    float *floats = b->make_floats(n);
    to_floats(l, from, 1, floats);
    b->pull_floats(floats, to, n);
    b->free_floats(floats);
}

void bf16_pull_output(layer l, float *to)
{
    const bf16_backend *b = bf16_backend_here();
    if (!l.bf16->fused) {
        pull(l, l.bf16->output, to);
        return;
    }
    void *output = b->make(values_of(l));
    b->use_shared(&l);
    b->recompute_output(l, output);
    pull(l, output, to);
    b->free(output);
}

void bf16_pull_delta(layer l, float *to)
{
    pull(l, l.bf16->delta, to);
}

// ---- [convolutional] and [connected] ----

// The [shortcut] behind a fused layer, and the network as it sees it.
static layer behind_fused(network *net)
{
    return net->layers[++net->index];
}

static void normalize_and_add(layer l, network net)
{
    network later = net;
    layer shortcut = behind_fused(&later);
    l.bf16->trained = net.train;
    bf16_backend_here()->normalize_and_add(l, net, shortcut, shortcut_alpha(shortcut, later),
                                           input_from(shortcut, later, shortcut.index));
}

static void normalize_and_add_backward(layer l, network net)
{
    int set;
    network later = net;
    layer shortcut = behind_fused(&later);
    void *from_delta = delta_for(later, shortcut.index, &set);
    bf16_backend_here()->normalize_and_add_backward(
        l, net, shortcut, shortcut_alpha(shortcut, later), set, from_delta);
}

static void forward_convolutional(layer l, network net)
{
    const bf16_backend *b = bf16_backend_here();
    b->use_shared(&l);
    b->convolve(l, net, input_from(l, net, net.index - 1));
    if (l.bf16->fused)
        normalize_and_add(l, net);
    else if (l.batch_normalize)
        b->normalize(l, net);
    else
        b->add_bias(l);
}

static void backward_convolutional(layer l, network net)
{
    int set;
    const bf16_backend *b = bf16_backend_here();
    b->use_shared(&l);
    if (l.bf16->fused)
        normalize_and_add_backward(l, net);
    else if (l.batch_normalize)
        b->normalize_backward(l, net);
    else
        b->add_bias_backward(l, net);
    b->convolve_backward_weights(
        l, net, net.index ? read_layer(net, net.index - 1)->output : l.bf16->input);

    announce_gradients(net);
    void *delta = delta_for(net, net.index - 1, &set);
    if (delta)
        b->convolve_backward_input(l, net, set, delta);
}

// ---- layers without parameters ----

static void forward_maxpool(layer l, network net)
{
    bf16_backend_here()->maxpool(l, input_from(l, net, net.index - 1));
}

static void backward_maxpool(layer l, network net)
{
    int set;
    void *delta = delta_for(net, net.index - 1, &set);
    if (delta)
        bf16_backend_here()->maxpool_backward(l, set, delta);
}

static void forward_upsample(layer l, network net)
{
    bf16_backend_here()->upsample(l, input_from(l, net, net.index - 1));
}

static void backward_upsample(layer l, network net)
{
    int set;
    void *delta = delta_for(net, net.index - 1, &set);
    if (delta)
        bf16_backend_here()->upsample_backward(l, set, delta);
}

static void forward_avgpool(layer l, network net)
{
    bf16_backend_here()->avgpool(l, input_from(l, net, net.index - 1));
}

static void backward_avgpool(layer l, network net)
{
    int set;
    void *delta = delta_for(net, net.index - 1, &set);
    if (delta)
        bf16_backend_here()->avgpool_backward(l, set, delta);
}

// The layer before this [shortcut] does its work.
static int is_done_before(network net)
{
    bf16_arrays *before = net.layers[net.index - 1].bf16;
    return before && before->fused && !is_left_out(net, net.index - 1);
}

static void forward_shortcut(layer l, network net)
{
    if (is_done_before(net))
        return;
    const void *input = is_left_out(net, net.index - 1) ? 0 : input_from(l, net, net.index - 1);
    bf16_backend_here()->shortcut(l, input, shortcut_alpha(l, net), input_from(l, net, l.index));
}

static void backward_shortcut(layer l, network net)
{
    int set = 0, set_from;
    if (is_done_before(net)) {
        sets_bf16_delta(net, net.index - 1); // by itself, from this layer's
        return;
    }
    float alpha = shortcut_alpha(l, net);
    void *delta = is_left_out(net, net.index - 1) ? 0 : delta_for(net, net.index - 1, &set);
    void *from_delta = delta_for(net, l.index, &set_from);
    if (from_delta == delta) { // twice the input
        alpha += l.beta;
        from_delta = 0;
    }
    bf16_backend_here()->shortcut_backward(l, alpha, set, delta, set_from, from_delta);
}

static void forward_route(layer l, network net)
{
    int i, offset = 0;
    for (i = 0; i < l.n; ++i) {
        int all = net.layers[l.input_layers[i]].out_c, some = all / l.groups;
        bf16_backend_here()->copy_channels(cells_of(l), some, input_from(l, net, l.input_layers[i]),
                                           all, l.group_id * some, 1, l.bf16->output, l.out_c,
                                           offset);
        offset += some;
    }
}

static void backward_route(layer l, network net)
{
    int i, set, offset = 0;
    for (i = 0; i < l.n; ++i) {
        layer from = net.layers[l.input_layers[i]];
        int some = from.out_c / l.groups;
        void *delta = delta_for(net, l.input_layers[i], &set);
        if (set && l.groups > 1) { // the other channels get nothing
            bf16_backend_here()->zero(delta, values_of(from));
            set = 0;
        }
        if (delta)
            bf16_backend_here()->copy_channels(cells_of(l), some, l.bf16->delta, l.out_c, offset,
                                               set, delta, from.out_c, l.group_id * some);
        offset += some;
    }
}

// [scale_channels] and [sam]
static void forward_product(layer l, network net)
{
    bf16_backend_here()->multiply(l, input_from(l, net, l.index),
                                  input_from(l, net, net.index - 1));
}

static void backward_product(layer l, network net)
{
    int set_x, set_scales;
    void *x_delta = delta_for(net, l.index, &set_x);
    void *scales_delta = delta_for(net, net.index - 1, &set_scales);
    bf16_backend_here()->multiply_backward(l, input_from(l, net, l.index),
                                           input_from(l, net, net.index - 1), set_x, x_delta,
                                           set_scales, scales_delta);
}

void bf16_set_passes(layer *l)
{
    static const struct {
        LAYER_TYPE type;
        void (*forward)(layer, network);
        void (*backward)(layer, network);
    } rows[] = {
        {CONVOLUTIONAL, forward_convolutional, backward_convolutional},
        {CONNECTED, forward_convolutional, backward_convolutional},
        {MAXPOOL, forward_maxpool, backward_maxpool},
        {UPSAMPLE, forward_upsample, backward_upsample},
        {AVGPOOL, forward_avgpool, backward_avgpool},
        {SHORTCUT, forward_shortcut, backward_shortcut},
        {ROUTE, forward_route, backward_route},
        {SCALE_CHANNELS, forward_product, backward_product},
        {SAM, forward_product, backward_product},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (rows[i].type != l->type)
            continue;
        bf16_backend_here()->set_passes(l, rows[i].forward, rows[i].backward);
        l->sets_deltas = 1;
    }
}
