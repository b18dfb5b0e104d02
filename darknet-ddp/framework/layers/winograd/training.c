#include "layers/winograd/training.h"

#ifdef DNNL
#include "layers/onednn/channels.h"
#include "layers/onednn/layer_shape.h"
#include "layers/winograd/winograd.h"
#include "network.h"

#include <stdint.h>

enum {
    ENOUGH_TILES = 128, /* of one call: the products of fewer would wait for the weights */
    ALIGNMENT = 64
};

static int is_computed_here(const layer *l)
{
    const convolution_shape s = layer_shape(l, 1), back = winograd_backward_shape(&s);

    return !l->binary && !l->xnor && l->pad <= 2 && winograd_suits(&s) && winograd_suits(&back);
}

/* Memory of net.workspace. Images are NHWC. */
typedef struct {
    float *x, *y;   /* images, or their gradients */
    float *weights; /* packed weights, or the sums for their gradients */
    float *scratch;
} memory;

/* Return how many images are computed at once. */
static int images_at_once(const layer *l)
{
    const convolution_shape one = layer_shape(l, 1);
    const int images = (ENOUGH_TILES - 1) / winograd_tiles(&one) + 1;

    return images < l->batch ? images : l->batch;
}

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Return the bytes of the images that are computed at once, of `values` floats each. */
static size_t bytes_of(const layer *l, int values)
{
    return round_up((size_t)images_at_once(l) * (size_t)values * sizeof(float));
}

/* Return the bytes of the transforms of the weights, or of their gradients. */
static size_t weights_bytes(const layer *l)
{
    const convolution_shape s = layer_shape(l, 1), back = winograd_backward_shape(&s);

    return round_up(greater(winograd_packed_bytes(&s), winograd_packed_bytes(&back)));
}

size_t winograd_workspace(layer l)
{
    convolution_shape s, back;
    size_t scratch;

    if (!is_computed_here(&l))
        return 0;
    s = layer_shape(&l, images_at_once(&l));
    back = winograd_backward_shape(&s);
    scratch = greater(winograd_forward_scratch(&s), winograd_forward_scratch(&back));
    return ALIGNMENT + bytes_of(&l, l.inputs) + bytes_of(&l, l.outputs) + weights_bytes(&l)
           + greater(scratch, winograd_sums_scratch(&s));
}

static memory memory_of(const layer *l, network net)
{
    char *at = (char *)net.workspace;
    memory m;

    at += (ALIGNMENT - (uintptr_t)at % ALIGNMENT) % ALIGNMENT;
    m.x = (float *)(void *)at;
    m.y = (float *)(void *)(at += bytes_of(l, l->inputs));
    m.weights = (float *)(void *)(at += bytes_of(l, l->outputs));
    m.scratch = (float *)(void *)(at + weights_bytes(l));
    return m;
}

/* Return the shape of the images from `first` on that are computed at once. */
static convolution_shape shape_from(const layer *l, int first)
{
    const int images = images_at_once(l);

    return layer_shape(l, l->batch - first < images ? l->batch - first : images);
}

int winograd_forward_layer(layer l, network net, float *out)
{
    convolution_shape s;
    memory m;

    if (!is_computed_here(&l))
        return 0;
    s = shape_from(&l, 0);
    m = memory_of(&l, net);
    winograd_pack(&s, l.weights, m.weights);
    for (int i = 0; i < l.batch; i += s.images) {
        s = shape_from(&l, i);
        channels_to_last(s.images, l.c, l.h, l.w, net.input + (size_t)i * (size_t)l.inputs, m.x);
        winograd_forward(&s, m.weights, NULL, m.x, m.y, m.scratch);
        channels_to_planes(s.images, l.n, l.out_h, l.out_w, m.y,
                           out + (size_t)i * (size_t)l.outputs);
        let_messages_move(net);
    }
    return 1;
}

int winograd_backward_weights(layer l, network net)
{
    convolution_shape s;
    memory m;

    if (!is_computed_here(&l))
        return 0;
    s = shape_from(&l, 0);
    m = memory_of(&l, net);
    for (int i = 0; i < l.batch; i += s.images) {
        s = shape_from(&l, i);
        channels_to_last(s.images, l.c, l.h, l.w, net.input + (size_t)i * (size_t)l.inputs, m.x);
        channels_to_last(s.images, l.n, l.out_h, l.out_w, l.delta + (size_t)i * (size_t)l.outputs,
                         m.y);
        winograd_sum_products(&s, m.x, m.y, i == 0, m.weights, m.scratch);
        let_messages_move(net);
    }
    winograd_add_gradients(&s, m.weights, l.weight_updates);
    return 1;
}

int winograd_backward_data(layer l, network net, int is_set)
{
    convolution_shape s, back;
    memory m;

    if (!is_computed_here(&l))
        return 0;
    s = shape_from(&l, 0);
    back = winograd_backward_shape(&s);
    m = memory_of(&l, net);
    winograd_pack_backward(&back, l.weights, m.weights);
    for (int i = 0; i < l.batch; i += s.images) {
        float *delta = net.delta + (size_t)i * (size_t)l.inputs;

        s = shape_from(&l, i);
        back = winograd_backward_shape(&s);
        back.sum = is_set ? CONVOLUTION_SUM_NONE : CONVOLUTION_SUM_AFTER;
        channels_to_last(s.images, l.n, l.out_h, l.out_w, l.delta + (size_t)i * (size_t)l.outputs,
                         m.y);
        if (!is_set)
            channels_to_last(s.images, l.c, l.h, l.w, delta, m.x);
        winograd_forward(&back, m.weights, NULL, m.y, m.x, m.scratch);
        channels_to_planes(s.images, l.c, l.h, l.w, m.x, delta);
        let_messages_move(net);
    }
    return 1;
}
#else
size_t winograd_workspace(layer l)
{
    (void)l;
    return 0;
}

int winograd_forward_layer(layer l, network net, float *out)
{
    (void)l;
    (void)net;
    (void)out;
    return 0;
}

int winograd_backward_weights(layer l, network net)
{
    (void)l;
    (void)net;
    return 0;
}

int winograd_backward_data(layer l, network net, int is_set)
{
    (void)l;
    (void)net;
    (void)is_set;
    return 0;
}
#endif
