#include "activations.h"
#include "blas.h"
#include "cuda.h"
#include "shortcut_layer.h"
#include "utils.h"

#include <math.h>

// [shortcut] of several layers, or with weights. Its sources are its input and the other layers.
// Each output is the sum, over the sources that have its channel, of the source's value in its
// place times the source's weight. Weights lie source by source, the input first: one number for a
// source, or one for each of its channels.

// of one source
static int weights_a_source(layer l)
{
    return l.nweights / (l.n + 1);
}

// The weight's value before it is divided by the sum of all sources'.
static float raw_blend(layer l, float weight, float largest)
{
    if (l.weights_normalization == SOFTMAX_WEIGHTS)
        return expf(weight - largest);
    return weight > 0 ? weight : 0;
}

void blend_weights(layer l)
{
    int i, k;
    int channels = weights_a_source(l);
    for (k = 0; k < channels; ++k) {
        float largest = l.weights[k];
        float sum = .0001f;
        for (i = 1; i <= l.n; ++i)
            if (l.weights[i * channels + k] > largest)
                largest = l.weights[i * channels + k];
        for (i = 0; i <= l.n; ++i)
            sum += raw_blend(l, l.weights[i * channels + k], largest);
        for (i = 0; i <= l.n; ++i) {
            float w = l.weights[i * channels + k];
            l.blend[i * channels + k] =
                l.weights_normalization == FREE_WEIGHTS ? w : raw_blend(l, w, largest) / sum;
        }
    }
}

static float blend_of(layer l, int source, int channel)
{
    int channels = weights_a_source(l);
    if (!l.nweights)
        return 1;
    return l.blend[source * channels + (channels > 1 ? channel : 0)];
}

// The channels that source s has in common with the layer.
static int channels_of(layer l, network net, int s)
{
    int c = s ? net.layers[l.input_layers[s - 1]].out_c : l.out_c;
    return c < l.out_c ? c : l.out_c;
}

static int size_of(layer l, network net, int s)
{
    return s ? net.layers[l.input_layers[s - 1]].outputs : l.outputs;
}

VECTORIZE
static void add_scaled(int n, float scale, const float *restrict x, float *restrict y)
{
    int i;
    for (i = 0; i < n; ++i)
        y[i] += scale * x[i];
}

VECTORIZE
static float product_of(int n, const float *restrict x, const float *restrict y)
{
    int i;
    float sum = 0;
    for (i = 0; i < n; ++i)
        sum += x[i] * y[i];
    return sum;
}

void forward_shortcut_sources(layer l, network net)
{
    int b, k, s;
    int cells = l.out_w * l.out_h;
    if (l.nweights)
        blend_weights(l);
    fill_cpu(l.outputs * l.batch, 0, l.output, 1);
    for (s = 0; s <= l.n; ++s) {
        float *from = s ? net.layers[l.input_layers[s - 1]].output : net.input;
        for (b = 0; b < l.batch; ++b) {
            for (k = 0; k < channels_of(l, net, s); ++k) {
                add_scaled(cells, blend_of(l, s, k),
                           from + (size_t)b * (size_t)size_of(l, net, s) + k * cells,
                           l.output + (size_t)b * (size_t)l.outputs + k * cells);
            }
        }
    }
    activate_layer(l);
}

// A weight's gradient leaves its normalisation out, as that of the forks does on the CPU.
static void backward_weight(layer l, int s, int k, int cells, const float *delta, const float *from)
{
    int channels = weights_a_source(l);
    l.weight_updates[s * channels + (channels > 1 ? k : 0)] += product_of(cells, delta, from);
}

void backward_shortcut_sources(layer l, network net)
{
    int b, k, s;
    int cells = l.out_w * l.out_h;
    gradient_layer(l);
    for (s = 0; s <= l.n; ++s) {
        float *from = s ? net.layers[l.input_layers[s - 1]].output : net.input;
        float *from_delta = s ? net.layers[l.input_layers[s - 1]].delta : net.delta;
        for (b = 0; b < l.batch; ++b) {
            for (k = 0; k < channels_of(l, net, s); ++k) {
                size_t at = (size_t)b * (size_t)size_of(l, net, s) + (size_t)(k * cells);
                float *delta = l.delta + (size_t)b * (size_t)l.outputs + k * cells;
                add_scaled(cells, blend_of(l, s, k), delta, from_delta + at);
                if (l.nweights)
                    backward_weight(l, s, k, cells, delta, from + at);
            }
        }
    }
}

void update_shortcut_layer(layer l, update_args a)
{
    float rate = a.learning_rate * l.learning_rate_scale;
    optimize_cpu(l.nweights, l.weights, l.weight_updates, l.weight_momentum, l.m, l.v, rate,
                 a.decay, a);
}

void make_shortcut_sources(layer *l, int n, int *sources, int weights, int adam)
{
    int i;
    l->n = n;
    l->input_layers = sources;
    l->sets_deltas = 0;
    l->nweights = weights * (n + 1);
    l->forward = forward_shortcut_sources;
    l->backward = backward_shortcut_sources;
#ifdef GPU
    l->forward_gpu = forward_shortcut_sources_gpu;
    l->backward_gpu = backward_shortcut_sources_gpu;
#endif
    if (!weights)
        return;
    l->update = update_shortcut_layer;
    l->weights = calloc((size_t)l->nweights, sizeof(float));
    l->weight_updates = calloc((size_t)l->nweights, sizeof(float));
    l->weight_momentum = calloc((size_t)l->nweights, sizeof(float));
    l->blend = calloc((size_t)l->nweights, sizeof(float));
    if (adam) {
        l->m = calloc((size_t)l->nweights, sizeof(float));
        l->v = calloc((size_t)l->nweights, sizeof(float));
    }
    for (i = 0; i < l->nweights; ++i)
        l->weights[i] = 1;
#ifdef GPU
    make_bare_weights_gpu(l, adam);
    l->blend_gpu = cuda_make_array(l->blend, (size_t)l->nweights);
#endif
}

#ifdef GPU
void make_bare_weights_gpu(layer *l, int adam)
{
    l->weights_gpu = cuda_make_array(l->weights, (size_t)l->nweights);
    l->weight_updates_gpu = cuda_make_array(0, (size_t)l->nweights);
    if (adam) {
        l->m_gpu = cuda_make_array(0, (size_t)l->nweights);
        l->v_gpu = cuda_make_array(0, (size_t)l->nweights);
    } else {
        l->weight_momentum_gpu = cuda_make_array(0, (size_t)l->nweights);
    }
    l->update_gpu = update_bare_weights_gpu;
}

void update_bare_weights_gpu(layer l, update_args a)
{
    optimize_layer_gpu(l, l.nweights, 0, a);
}

void pull_bare_weights(layer l)
{
    cuda_pull_array(l.weights_gpu, l.weights, (size_t)l.nweights);
}

void push_bare_weights(layer l)
{
    cuda_push_array(l.weights_gpu, l.weights, (size_t)l.nweights);
}
#endif
