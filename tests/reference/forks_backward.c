/* The reference's program, on a CPU, divides what a delta passes straight through BatchNorm by
 * sqrt(variance) + 1e-5, and all else by sqrt(variance + 1e-5), as its GPU code and ours divide
 * everything. Here a convolution's BatchNorm is ours, to which that difference is added: linked
 * with --wrap, so that what it calls passes by here. */
#include <activations.h>
#include <batchnorm_layer.h>
#include <darknet.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t values_of(const layer *l)
{
    return (size_t)l->outputs * (size_t)l->batch;
}

static float *make_values(const layer *l)
{
    float *values = calloc(values_of(l), sizeof *values);

    if (!values || l->type == BATCHNORM)
        abort(); /* a layer of its own has passed its delta on already */
    return values;
}

/* straight: the gradient by what BatchNorm puts out. */
static void add_difference(const layer *l, const float *variance, const float *scales,
                           const float *straight, float *delta)
{
    size_t cells = (size_t)l->out_w * (size_t)l->out_h;

    for (size_t i = 0; i < values_of(l); i++) {
        size_t channel = i / cells % (size_t)l->out_c;
        double v = (double)variance[channel];
        double more = 1 / (sqrt(v) + 1e-5) - 1 / sqrt(v + 1e-5);

        delta[i] += (float)(more * (double)scales[channel] * (double)straight[i]);
    }
}

void __real_backward_batchnorm_layer(layer l, network net);
void __wrap_backward_batchnorm_layer(layer l, network net);

void __wrap_backward_batchnorm_layer(layer l, network net)
{
    float *straight = make_values(&l);

    memcpy(straight, l.delta, values_of(&l) * sizeof *straight);
    __real_backward_batchnorm_layer(l, net);
    add_difference(&l, l.variance, l.scales, straight, l.delta);
    free(straight);
}

#ifdef GPU
void __real_backward_batchnorm_layer_gpu(layer l, network net);
void __wrap_backward_batchnorm_layer_gpu(layer l, network net);

/* A GPU's backward pass takes the delta through the activation, too: the host does so here. */
static float *pull_straight(const layer *l, const float *mean, const float *variance)
{
    size_t n = values_of(l), cells = (size_t)l->out_w * (size_t)l->out_h;
    layer h = {.outputs = l->outputs, .batch = l->batch, .activation = l->activation};

    h.delta = make_values(l);
    h.output = make_values(l);
    h.activation_input = activation_needs_input(l->activation) ? make_values(l) : NULL;
    cuda_pull_array(l->delta_gpu, h.delta, n);
    cuda_pull_array(l->x_gpu, h.output, n);
    for (size_t i = 0; i < n; i++) {
        size_t channel = i / cells % (size_t)l->out_c;

        h.output[i] = (h.output[i] - mean[channel]) * l->scales[channel]
                          / channel_deviation(variance[channel])
                      + l->biases[channel];
    }
    activate_layer(h);
    gradient_layer(h);
    free(h.output);
    free(h.activation_input);
    return h.delta;
}

void __wrap_backward_batchnorm_layer_gpu(layer l, network net)
{
    float *delta = make_values(&l), *straight;
    size_t channels = (size_t)l.out_c;
    float *mean = calloc(channels, sizeof *mean), *variance = calloc(channels, sizeof *variance);

    if (!mean || !variance)
        abort();
    cuda_pull_array(l.mean_gpu, mean, channels);
    cuda_pull_array(l.variance_gpu, variance, channels);
    cuda_pull_array(l.scales_gpu, l.scales, channels);
    cuda_pull_array(l.biases_gpu, l.biases, channels);
    straight = pull_straight(&l, mean, variance);
    __real_backward_batchnorm_layer_gpu(l, net);
    cuda_pull_array(l.delta_gpu, delta, values_of(&l));
    add_difference(&l, variance, l.scales, straight, delta);
    cuda_push_array(l.delta_gpu, delta, values_of(&l));
    free(straight);
    free(delta);
    free(mean);
    free(variance);
}
#endif
