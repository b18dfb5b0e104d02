/* random_weights CFG FILE [WIDTH HEIGHT]: weights with which a network that nobody trained gives
 * numbers like a trained one. They are drawn at random. BatchNorm's statistics are those of one
 * random picture, so that no layer dies out or overflows. */
#include "glue/network.h"

#include <darknet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 12345;

static float drawn(float low, float high)
{
    state = state * 1664525U + 1013904223U;
    return low + (high - low) * (float)(state >> 8) / (float)(1 << 24);
}

static void fill(float *values, size_t count, float low, float high)
{
    for (size_t i = 0; values && i < count; i++)
        values[i] = drawn(low, high);
}

/* Squares of 8 pixels, and noise: filters answer to them as to a picture's surfaces. */
static void fill_picture(float *values, const network *net)
{
    for (int i = 0; i < net->inputs; i++) {
        unsigned square = (unsigned)(net->w ? i % net->w / 8 + 41 * (i / net->w / 8) : i);

        values[i] = (float)(square * 2654435761U >> 24) / 320 + drawn(0, .2F);
    }
}

static size_t weights_of(const layer *l)
{
    if (l->type == CONNECTED)
        return (size_t)l->inputs * (size_t)l->outputs;
    if (l->type == LOCAL)
        return (size_t)(l->size * l->size * l->c * l->n) * (size_t)(l->out_w * l->out_h);
    return (size_t)l->nweights;
}

/* How many values one value of the output is a sum of. */
static float summands_of(const layer *l)
{
    if (l->type == CONNECTED)
        return (float)l->inputs;
    if (l->type == CONVOLUTIONAL)
        return (float)(l->size * l->size * l->c) / (float)l->groups;
    return l->type == SHORTCUT || l->type == IMPLICIT ? 4 : (float)(l->size * l->size * l->c);
}

static void fill_layer(layer *l)
{
    float most = sqrtf(6 / summands_of(l));
    size_t n = (size_t)(l->type == LOCAL ? l->outputs : l->out_c);

    if (l->type != CONVOLUTIONAL && l->type != DECONVOLUTIONAL && l->type != CONNECTED
        && l->type != LOCAL && l->type != BATCHNORM && l->type != SHORTCUT && l->type != IMPLICIT)
        return;
    if (l->weights && !l->share_layer)
        fill(l->weights, weights_of(l), -most, most);
    if (l->type == SHORTCUT || l->type == IMPLICIT)
        return;
    fill(l->biases, n, -.3F, .3F);
    fill(l->scales, n, .6F, 1.4F);
}

static void run_layer(network *net, int i, float *input)
{
    network copy = *net;

    copy.index = i;
    copy.train = 0;
    copy.truth = NULL;
    copy.input = i ? net->layers[i - 1].output : input;
    net->layers[i].forward(net->layers[i], copy);
}

/* Set BatchNorm's statistics by what the layer has just computed. The variance is half of the
 * channel's and half of all channels', since a channel may have one value alone. */
static void take_statistics(layer *l)
{
    int cells = l->out_w * l->out_h, n = l->out_c * cells;
    float all = 0;

    for (int i = 0; i < n; i++)
        all += l->x[i] * l->x[i] / (float)n;
    for (int c = 0; c < l->out_c; c++) {
        const float *x = l->x + c * cells;
        float mean = 0, variance = 0;

        for (int i = 0; i < cells; i++)
            mean += x[i] / (float)cells;
        for (int i = 0; i < cells; i++)
            variance += (x[i] - mean) * (x[i] - mean) / (float)cells;
        variance = variance / 2 + all / 2 + 1e-6F;
        l->rolling_mean[c] = mean + sqrtf(variance) * drawn(-.3F, .3F);
        l->rolling_variance[c] = variance * drawn(.8F, 1.2F);
    }
}

/* Make the output of a layer without BatchNorm as large as 1: a head takes the exponential of it.
 */
static void shrink(layer *l)
{
    float squares = 0;

    for (int i = 0; i < l->outputs; i++)
        squares += l->output[i] * l->output[i] / (float)l->outputs;
    for (size_t i = 0; squares > 1 && i < weights_of(l); i++)
        l->weights[i] /= sqrtf(squares);
}

int main(int argc, char **argv)
{
    ddp_net_number numbers[] = {{"batch", 1}, {"subdivisions", 1}, {"width", 0}, {"height", 0}};
    ddp_network_shape shape;
    network *net;
    float *input;

    if (argc != 3 && argc != 5)
        return 2;
    for (int i = 3; i < argc; i++)
        numbers[i - 1].value = atoi(argv[i]);
    net = ddp_network_load(&shape, argv[1], numbers, 4, -1, 1);
    input = malloc((size_t)net->inputs * sizeof *input);
    fill_picture(input, net);
    for (int i = 0; i < net->n; i++) {
        layer *l = net->layers + i;

        if (l->batch_normalize)
            for (int c = 0; c < l->out_c && l->rolling_variance; c++)
                l->rolling_variance[c] = 1;
        fill_layer(l);
        run_layer(net, i, input);
        if (l->x && l->rolling_variance && !l->share_layer
            && (l->batch_normalize || l->type == BATCHNORM)) {
            take_statistics(l);
            run_layer(net, i, input);
        } else if (l->type == CONVOLUTIONAL && l->activation == LINEAR && !l->share_layer) {
            shrink(l);
            run_layer(net, i, input);
        }
    }
    save_weights(net, argv[2]);
    free(input);
    ddp_network_free(net);
    return 0;
}
