#include "layers/inference/step.h"

#include "layers/bf16/bf16.h"
#include "layers/graph.h"
#include "network.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors ---- */

int inference_origin(const inference_plan *p, int source)
{
    while (source >= 0 && p->net->layers[source].type == DROPOUT)
        --source;
    return source;
}

inference_tensor *inference_tensor_of(const inference_plan *p, int i)
{
    return i == NETWORK_INPUT ? (inference_tensor *)&p->input : &p->steps[i].out;
}

size_t inference_value_bytes(const inference_plan *p)
{
    return p->bf16 ? sizeof(unsigned short) : sizeof(float);
}

size_t inference_tensor_bytes(const inference_plan *p, const inference_tensor *t)
{
    return (size_t)p->images * (size_t)t->channels * (size_t)t->height * (size_t)t->width
           * inference_value_bytes(p);
}

void *inference_allocate(size_t bytes)
{
    void *x = NULL;

    if (posix_memalign(&x, 64, bytes + 64))
        malloc_error();
    memset(x, 0, bytes + 64);
    return x;
}

/* ---- which layer is computed how ---- */

static int is_image(const layer *l)
{
    return l->out_c > 0 && l->out_h > 0 && l->out_w > 0
           && (size_t)l->out_c * (size_t)l->out_h * (size_t)l->out_w == (size_t)l->outputs;
}

/* Return 1 if all that layer i reads are images: the first one of the size that i wants. */
static int reads_images(const inference_plan *p, int i)
{
    const layer *l = &p->net->layers[i];
    const int is_list = l->type == ROUTE;
    int k, source;

    for (k = 0; (source = layer_source(p->net, i, k)) != NO_SOURCE; ++k) {
        const int origin = inference_origin(p, source);
        const inference_tensor *t = inference_tensor_of(p, origin);

        if (origin >= 0 && !is_image(&p->net->layers[origin]))
            return 0;
        if (k == 0 && !is_list && (t->channels != l->c || t->height != l->h || t->width != l->w))
            return 0;
    }
    return 1;
}

static inference_kind kind_of(inference_plan *p, int i)
{
    const layer *l = &p->net->layers[i];
    inference_step *s = &p->steps[i];

    if (l->type == DROPOUT)
        return STEP_ALIAS;
    if (!is_image(l) || !reads_images(p, i))
        return STEP_OWN;
    if (l->type == CONVOLUTIONAL)
        return inference_plan_convolution(p, i) ? STEP_PLANNED : STEP_OWN;
    s->run = inference_loop_of(p, i);
    return s->run ? STEP_PLANNED : STEP_OWN;
}

/* The output is that of the last layer which has one; [cost] has none of its own. */
static int output_layer(const network *net)
{
    int i = net->n - 1;

    while (i > 0 && net->layers[i].type == COST)
        --i;
    return i;
}

static void note_readers(inference_plan *p, int i)
{
    const inference_kind kind = p->steps[i].kind;
    int k, source;

    for (k = 0; (source = layer_source(p->net, i, k)) != NO_SOURCE; ++k) {
        const int origin = inference_origin(p, source);

        if (kind == STEP_OWN && origin >= 0)
            p->steps[origin].is_shown = 1;
        else if (kind == STEP_PLANNED && origin >= 0)
            p->steps[origin].is_read = 1;
        else if (kind == STEP_PLANNED)
            p->input_is_read = 1;
    }
}

static void plan_layers(inference_plan *p)
{
    network *net = p->net;
    int i;

    for (i = 0; i < net->n; ++i) {
        const layer *l = &net->layers[i];
        inference_step *s = &p->steps[i];

        s->out = (inference_tensor){.channels = l->out_c, .height = l->out_h, .width = l->out_w};
        s->writes = i;
        s->adds = NO_SOURCE;
        s->last = LINEAR;
        s->kind = kind_of(p, i);
    }
    for (i = 0; i < net->n; ++i)
        note_readers(p, i);
    p->steps[inference_origin(p, output_layer(net))].is_shown = 1;
    for (i = 0; i + 1 < net->n; ++i)
        inference_fuse_shortcut(p, i);
}

/* ---- opening and closing ---- */

static int count_convolutions(const inference_plan *p)
{
    int i, count = 0;

    for (i = 0; i < p->net->n; ++i)
        count += p->steps[i].is_convolution;
    return count;
}

/* Return 1 if Darknet's code computes a layer in bf16: it would read and write l.bf16's arrays,
 * which a plan does not fill, and such layers have no l.output. */
static int has_own_bf16(const inference_plan *p)
{
    for (int i = 0; i < p->net->n; ++i)
        if (p->steps[i].kind == STEP_OWN && bf16_runs(p->net->layers[i]))
            return 1;
    return 0;
}

/* Let the plugin, if one trains the network, bring in the updates of layer i that are left. */
static void tell_hooks(network *net, int i)
{
    if (net->hooks)
        net->hooks->forward_layer(net->hooks->ctx, net, i);
}

/* The weights of all layers become those of the last update. */
static void settle(network *net)
{
    const int train = net->train;

    net->train = 0;
    for (int i = 0; i < net->n; ++i)
        tell_hooks(net, i);
    net->train = train;
}

static int has_device(const network *net)
{
#ifdef GPU
    return net->gpu_index >= 0;
#else
    (void)net;
    return 0;
#endif
}

inference_plan *inference_open(network *net, int bf16)
{
    inference_plan *p;
    int i;

    if (has_device(net))
        return NULL;
    p = calloc(1, sizeof *p);
    p->net = net;
    p->bf16 = bf16;
    p->images = net->batch;
    p->input = (inference_tensor){.channels = net->c, .height = net->h, .width = net->w};
    p->steps = calloc((size_t)net->n, sizeof *p->steps);
    plan_layers(p);
    if (count_convolutions(p) == 0 || has_own_bf16(p)) {
        inference_close(p);
        return NULL;
    }
    inference_share_memory(p);
    settle(net);
    for (i = 0; i < net->n; ++i)
        if (p->steps[i].is_convolution)
            inference_fold(p, i);
    p->scratch = inference_allocate(p->scratch_bytes);
    return p;
}

size_t inference_bytes(const inference_plan *p)
{
    size_t bytes = p->weights_bytes + p->scratch_bytes;

    for (int i = 0; i < p->slot_count; ++i)
        bytes += p->slot_bytes[i];
    return bytes;
}

void inference_close(inference_plan *p)
{
    int i;

    if (!p)
        return;
    for (i = 0; i < p->net->n; ++i) {
        free(p->steps[i].weights);
        free(p->steps[i].biases);
    }
    for (i = 0; i < p->slot_count; ++i)
        free(p->slots[i]);
    free(p->slots);
    free(p->slot_bytes);
    free(p->scratch);
    free(p->steps);
    free(p);
}

/* ---- predicting ---- */

static void run_layer(const inference_plan *p, network *net)
{
    const int i = net->index;
    const inference_step *s = &p->steps[i];
    const layer *l = &net->layers[i];

    if (s->kind == STEP_OWN) {
        l->forward(*l, *net);
        if (l->truth)
            net->truth = l->output;
        if (s->is_read)
            inference_pack(p, l->output, &s->out);
        return;
    }
    if (s->kind == STEP_PLANNED)
        s->run(p, l, s);
    if (s->kind != STEP_ALIAS && s->is_shown)
        inference_unpack(p, &s->out, l->output);
}

float *inference_predict(inference_plan *p, network *net, float *input)
{
    const network before = *net;

    if (!p)
        return network_predict(net, input);
    net->input = input;
    net->truth = net->delta = NULL;
    net->train = 0;
    if (p->input_is_read)
        inference_pack(p, input, &p->input);
    for (net->index = 0; net->index < net->n; ++net->index) {
        tell_hooks(net, net->index);
        run_layer(p, net);
        net->input = net->layers[net->index].output;
    }
    *net = before;
    return net->output;
}
