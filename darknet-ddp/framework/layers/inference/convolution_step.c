#include "layers/inference/step.h"

#include "batchnorm_layer.h"
#include "layers/graph.h"
#include "layers/onednn/layer_shape.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

#ifdef DNNL
static convolution_shape shape_of(const inference_plan *p, const layer *l)
{
    convolution_shape s = layer_shape(l, p->images);

    s.bf16 = p->bf16;
    s.has_bias = 1;
    s.activation = convolution_can_activate(l->activation) ? l->activation : LINEAR;
    return s;
}

/* Compute y by Winograd's algorithm. Floats are computed image by image, so that their bits are the
 * same for any number of images. */
static void run_winograd(const inference_plan *p, const inference_step *s, const void *x, void *y)
{
    const size_t x_each = (size_t)s->shape.channels * (size_t)(s->shape.height * s->shape.width);
    const size_t y_each =
        (size_t)s->shape.filters
        * (size_t)(convolution_out_height(&s->shape) * convolution_out_width(&s->shape));
    convolution_shape one = s->shape;

    if (s->shape.bf16) {
        winograd_rows_convolve(&s->shape, 1, s->weights, s->biases, x, y, p->scratch);
        return;
    }
    one.images = 1;
    for (size_t i = 0; i < (size_t)p->images; ++i)
        winograd_forward(&one, s->weights, s->biases, (const float *)x + i * x_each,
                         (float *)y + i * y_each, p->scratch);
}

static void run(const inference_plan *p, const layer *l, const inference_step *s)
{
    const int before = inference_origin(p, (int)(l - p->net->layers) - 1);
    const inference_tensor *x = inference_tensor_of(p, before);
    const inference_tensor *y = inference_tensor_of(p, s->writes);

    if (s->adds != NO_SOURCE) {
        const inference_tensor *added = inference_tensor_of(p, s->adds);

        if (added->values != y->values)
            memcpy(y->values, added->values, inference_tensor_bytes(p, y));
    }
    if (s->convolution)
        convolution_forward(s->convolution, s->weights, s->biases, x->values, y->values,
                            p->scratch);
    else
        run_winograd(p, s, x->values, y->values);
    inference_activate(p, y, s->last);
}

/* Let step s compute a shape, and return 1. Return 0 if neither Winograd's algorithm nor oneDNN
 * can; s is as it was. */
static int choose_way(inference_step *s, const convolution_shape *shape)
{
    const int by_winograd = shape->bf16 ? winograd_rows_are_faster() && winograd_rows_suit(shape)
                                        : winograd_suits(shape);
    convolution *c = by_winograd ? NULL : convolution_of(shape);

    if (!by_winograd && !c)
        return 0;
    s->is_convolution = 1;
    s->shape = *shape;
    s->convolution = c;
    return 1;
}

int inference_plan_convolution(inference_plan *p, int i)
{
    const layer *l = &p->net->layers[i];
    inference_step *s = &p->steps[i];
    const convolution_shape shape = shape_of(p, l);

    if (l->binary || l->xnor)
        return 0;
    s->run = run;
    s->last = shape.activation == l->activation ? LINEAR : l->activation;
    return choose_way(s, &shape);
}

/* Return where the sum of a [shortcut] behind convolution l can be computed within it. */
static convolution_sum sum_within(const layer *l, const layer *shortcut)
{
    if (shortcut->activation == LINEAR)
        return CONVOLUTION_SUM_AFTER;
    if (l->activation == LINEAR && convolution_can_activate(shortcut->activation))
        return CONVOLUTION_SUM_BEFORE;
    return CONVOLUTION_SUM_NONE;
}

void inference_fuse_shortcut(inference_plan *p, int i)
{
    network *net = p->net;
    inference_step *s = &p->steps[i], *next = &p->steps[i + 1];
    const layer *l = &net->layers[i], *shortcut = &net->layers[i + 1];
    convolution_shape shape;

    if (!s->is_convolution || shortcut->type != SHORTCUT || next->kind != STEP_PLANNED
        || s->is_shown || s->last != LINEAR || shortcut->alpha != 1 || shortcut->beta != 1
        || layer_reader(net, i, i + 1) < net->n || inference_origin(p, shortcut->index) == i)
        return;
    shape = shape_of(p, l);
    shape.sum = sum_within(l, shortcut);
    if (shape.sum == CONVOLUTION_SUM_BEFORE)
        shape.activation = shortcut->activation;
    if (shape.sum == CONVOLUTION_SUM_NONE || !choose_way(s, &shape))
        return;
    s->writes = i + 1;
    s->adds = inference_origin(p, shortcut->index);
    s->is_read = 0;
    next->kind = STEP_DONE;
}

static size_t packed_bytes(const inference_step *s)
{
    if (s->convolution)
        return convolution_packed_bytes(s->convolution, CONVOLUTION_FORWARD);
    return s->shape.bf16 ? winograd_rows_packed_bytes(&s->shape) : winograd_packed_bytes(&s->shape);
}

static size_t scratch_bytes(const inference_step *s)
{
    if (s->convolution)
        return convolution_scratch_bytes(s->convolution, CONVOLUTION_FORWARD);
    return s->shape.bf16 ? winograd_rows_scratch(&s->shape) : winograd_forward_scratch(&s->shape);
}

void inference_fold(inference_plan *p, int i)
{
    inference_step *s = &p->steps[i];
    const layer *l = &p->net->layers[i];
    const layer *owner = l->share_layer ? l->share_layer : l;
    const size_t each = (size_t)(l->c / l->groups) * (size_t)l->size * (size_t)l->size;
    const size_t bytes = packed_bytes(s), scratch = scratch_bytes(s);
    float *weights = calloc((size_t)l->n * each, sizeof *weights);

    s->biases = calloc((size_t)l->n, sizeof *s->biases);
    for (int f = 0; f < l->n; ++f) {
        float scale = 1;

        s->biases[f] = owner->biases[f];
        if (l->batch_normalize) {
            scale = owner->scales[f] / channel_deviation(owner->rolling_variance[f]);
            s->biases[f] -= owner->rolling_mean[f] * scale;
        }
        for (size_t k = (size_t)f * each; k < (size_t)(f + 1) * each; ++k)
            weights[k] = owner->weights[k] * scale;
    }
    s->weights = inference_allocate(bytes);
    if (s->convolution)
        convolution_pack(s->convolution, CONVOLUTION_FORWARD, weights, s->weights);
    else if (s->shape.bf16)
        winograd_rows_pack(&s->shape, weights, 0, s->weights);
    else
        winograd_pack(&s->shape, weights, s->weights);
    free(weights);
    p->weights_bytes += bytes;
    if (p->scratch_bytes < scratch)
        p->scratch_bytes = scratch;
}
#else
int inference_plan_convolution(inference_plan *p, int i)
{
    (void)p;
    (void)i;
    return 0;
}

void inference_fuse_shortcut(inference_plan *p, int i)
{
    (void)p;
    (void)i;
}

void inference_fold(inference_plan *p, int i)
{
    (void)p;
    (void)i;
}
#endif
