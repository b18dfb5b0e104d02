#include "layers/bf16/backend.h"

#include "activations.h"
#include "layers/graph.h"
#include "utils.h"

#include <stdlib.h>

int bf16_wanted = 0;

const bf16_backend *bf16_backend_here(void)
{
#ifdef GPU
    if (gpu_index >= 0) {
#ifdef CUDNN
        return &bf16_cuda;
#else
        return 0;
#endif
    }
#endif
    return &bf16_host;
}

int bf16_runs(layer l)
{
    return l.bf16 && l.bf16->runs;
}

static int is_image(layer l)
{
    return l.outputs > 0 && l.out_w * l.out_h * l.out_c == l.outputs;
}

// Pixel beside pixel: images of one size.
static int can_concatenate(network *net, layer l)
{
    int j;
    for (j = 0; j < l.n; ++j) {
        layer from = net->layers[l.input_layers[j]];
        if (!is_image(from) || from.out_w != l.out_w || from.out_h != l.out_h
            || from.out_c % l.groups)
            return 0;
    }
    return is_image(l);
}

// Does this [connected] read a picture with as many rows as columns, or what is no picture?
static int has_square_input(network *net, int i)
{
    layer before = net->layers[i - 1];
    return !is_image(before) || before.out_w == before.out_h;
}

// Is there code for it?
static int can_run(network *net, int i, LAYER_TYPE next)
{
    layer l = net->layers[i];
    if (l.truth || next == DROPOUT || !is_image(l))
        return 0;
    switch (l.type) {
    case CONVOLUTIONAL:
        return !l.binary && !l.xnor && !l.smooth
               && bf16_backend_here()->has_activation(l.activation);
    case CONNECTED:
        return i && has_square_input(net, i) && bf16_backend_here()->has_activation(l.activation);
    case SHORTCUT:
        return !l.input_layers && bf16_backend_here()->has_activation(l.activation);
    case SCALE_CHANNELS:
    case SAM:
        return bf16_backend_here()->has_activation(l.activation);
    case MAXPOOL:
        return !l.depth;
    case UPSAMPLE:
        return !l.reverse;
    case AVGPOOL:
        return 1;
    case ROUTE:
        return can_concatenate(net, l);
    default:
        return 0;
    }
}

// Convolutions gain; others would gain nothing where all that they read is floats.
static int is_worth_it(network *net, int i)
{
    if (net->layers[i].type == CONVOLUTIONAL)
        return 1;
    int k, source;
    for (k = 0; (source = layer_source(net, i, k)) != NO_SOURCE; ++k)
        if (source >= 0 && bf16_runs(net->layers[layer_actual_source(net, source, i)]))
            return 1;
    return 0;
}

int bf16_is_one_size(layer shortcut)
{
    return shortcut.w == shortcut.out_w && shortcut.h == shortcut.out_h
           && shortcut.c == shortcut.out_c;
}

// Does this [shortcut] add images of one size, or of two as the backend can?
static int can_fuse_sizes(layer l, layer shortcut)
{
    return bf16_is_one_size(shortcut) || bf16_backend_here()->can_fuse_sizes(l, shortcut);
}

// A [convolutional] with BatchNorm and the [shortcut] behind it go over memory together where no
// other layer reads the convolution.
static int can_fuse(network *net, int i)
{
    layer l = net->layers[i], next = net->layers[i + 1];
    int linear = next.activation == LINEAR || next.activation == LEAKY || next.activation == RELU;
    return bf16_runs(l) && l.type == CONVOLUTIONAL && l.batch_normalize && bf16_runs(next)
           && next.type == SHORTCUT && linear && next.index != i && can_fuse_sizes(l, next)
           && layer_reader(net, i, i + 1) == net->n;
}

// ---- memory ----

static size_t values_of(layer l)
{
    return (size_t)l.outputs * (size_t)l.batch;
}

// Its activations and deltas move to bf16; what is of parameters and of channels stays.
static void make_running(network *net, int i)
{
    const bf16_backend *b = bf16_backend_here();
    layer *l = net->layers + i;
    bf16_arrays *a = l->bf16;
    size_t n = values_of(*l);
    b->drop_floats(l, 0);
    a->output = b->make(n);
    a->delta = b->make(n);
    if (i == 0)
        a->input = b->make((size_t)l->inputs * (size_t)l->batch);
    if (l->batch_normalize || activation_needs_input(l->activation))
        a->x = b->make(n);
    bf16_set_passes(l);
}

static bf16_arrays *arrays_of(layer *l)
{
    if (!l->bf16)
        l->bf16 = calloc(1, sizeof(bf16_arrays));
    return l->bf16;
}

// A layer in floats reads this one, or one in bf16.
static void show_to(layer *l, int in_bf16)
{
    if (bf16_runs(*l) == in_bf16)
        return;
    const bf16_backend *b = bf16_backend_here();
    bf16_arrays *a = arrays_of(l);
    size_t n = values_of(*l);
    if (!in_bf16 && !a->read_as_floats) {
        a->read_as_floats = 1;
        *b->float_output(l) = b->make_floats(n);
        *b->float_delta(l) = b->make_floats(n);
    }
    if (in_bf16 && !a->output) {
        a->output = b->make(n);
        if (*b->float_delta(l))
            a->delta = b->make(n);
    }
}

static void show_sources(network *net, int i)
{
    int k, source;
    for (k = 0; (source = layer_source(net, i, k)) != NO_SOURCE; ++k)
        if (source >= 0)
            show_to(net->layers + layer_actual_source(net, source, i), bf16_runs(net->layers[i]));
}

// Give a [connected] the sizes of a convolution whose window is the whole picture. Weights of both
// lie in one order.
static void size_as_convolution(network *net, int i)
{
    layer *l = net->layers + i, before = net->layers[i - 1];
    int side = is_image(before) ? before.out_w : 1;
    l->w = l->h = l->size = side;
    l->c = l->inputs / (side * side);
    l->n = l->outputs;
    l->nweights = l->inputs * l->outputs;
    l->stride_x = l->stride_y = l->dilation = l->groups = 1;
}

static int is_convolved(layer l)
{
    return l.type == CONVOLUTIONAL || l.type == CONNECTED;
}

// The backend may have no algorithm for this shape.
static int can_convolve(network *net, int i)
{
    layer *l = net->layers + i;
    if (l->type == CONNECTED)
        size_as_convolution(net, i);
    if (!is_convolved(*l) || bf16_backend_here()->prepare(l))
        return 1;
    l->bf16->runs = 0;
    if (l->type == CONVOLUTIONAL)
        bf16_backend_here()->prepare_floats(l);
    return 0;
}

// When all layers are planned.
static void fuse_layers(network *net)
{
    int i;
    for (i = 0; i + 1 < net->n; ++i) {
        if (!can_fuse(net, i))
            continue;
        bf16_arrays *a = net->layers[i].bf16;
        bf16_backend_here()->free(a->output);
        a->output = 0;
        a->fused = 1;
    }
}

void bf16_plan_layer(network *net, int i, LAYER_TYPE next)
{
    layer *l = net->layers + i;
    if (!bf16_backend_here())
        fatal("bf16 on a GPU needs a build with cuDNN");
    if (i == 0 && bf16_backend_here()->missing())
        fatal("bf16 needs %s", bf16_backend_here()->missing());
    if (can_run(net, i, next) && is_worth_it(net, i)) {
        arrays_of(l)->runs = 1;
        if (can_convolve(net, i))
            make_running(net, i);
    } else if (l->type == CONVOLUTIONAL) {
        arrays_of(l); // from now on it is known to stay floats
        bf16_backend_here()->prepare_floats(l);
    }
    show_sources(net, i);
    if (next == BLANK)
        fuse_layers(net);
}

size_t bf16_workspace_size(network *net)
{
    int i;
    size_t most = 0;
    for (i = 0; i < net->n; ++i)
        if (net->layers[i].workspace_size > most)
            most = net->layers[i].workspace_size;
    return most;
}

void bf16_resize_layer(network *net, int i)
{
    const bf16_backend *b = bf16_backend_here();
    layer *l = net->layers + i;
    bf16_arrays *a = l->bf16;
    size_t n = values_of(*l);
    if (!a)
        return;
    if (a->runs) {
        b->drop_floats(l, a->read_as_floats);
        if (is_convolved(*l) && !b->prepare(l))
            fatal("layer %d: no convolution in bf16 for %d x %d pixels", i, l->w, l->h);
    }
    a->output = b->resize(a->output, n);
    a->delta = b->resize(a->delta, n);
    a->x = b->resize(a->x, n);
    a->input = b->resize(a->input, (size_t)l->inputs * (size_t)l->batch);
}

void bf16_free(layer l)
{
    bf16_arrays *a = l.bf16;
    if (!a)
        return;
    const bf16_backend *b = bf16_backend_here();
    void *all[] = {a->output, a->delta, a->x, a->input};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
        b->free(all[i]);
    b->free_convolution(l);
    free(a);
}
