/* ddp-test: quick */
/* BatchNorm against its definition in double precision, where its epsilon shows: channels whose
 * variance is far below it, about it and far above, and one whose values are all the same. The
 * divisor is sqrt(variance + 1e-5) for every cfg, in training, in testing and in weights that it is
 * put into. The variance is Darknet's, of n - 1; it is n in the delta. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include <batchnorm_layer.h>
#include <connected_layer.h>
#include <convolutional_layer.h>
#include <math.h>
#include <network.h>
#include <stdlib.h>

enum { BATCH = 4, CELLS = 15, COUNT = BATCH * CELLS, CHANNELS = 5, VALUES = COUNT * CHANNELS };

#define NET "[net]\nbatch=4\nwidth=5\nheight=3\nchannels=5\n"
#define END "[cost]\ntype=sse\n"

/* Roots of the channels' variances. */
static const float widths[CHANNELS] = {0, 1e-4F, 1e-3F, 1e-2F, 2};

static float pseudo(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (float)(*seed >> 8) / 8388608 - 1;
}

static void fill(float *x, int n, unsigned seed)
{
    for (int i = 0; i < n; i++)
        x[i] = pseudo(&seed);
}

/* Place of a channel's value. */
static int at(int channel, int i)
{
    return i / CELLS * CHANNELS * CELLS + channel * CELLS + i % CELLS;
}

static double deviation(double variance)
{
    return sqrt(variance + 1e-5);
}

static void moments(const float *x, int channel, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int i = 0; i < COUNT; i++)
        *mean += (double)x[at(channel, i)] / COUNT;
    for (int i = 0; i < COUNT; i++)
        *variance += pow((double)x[at(channel, i)] - *mean, 2) / (COUNT - 1);
}

/* Fail if a number of a channel is wrong by more than a part in ten thousand of size. */
static void expect(const char *what, int channel, float found, double wanted, double size)
{
    if (!(fabs((double)found - wanted) <= 1e-4 * size))
        fail_msg("%s of channel %d (deviation %g): %.9g and not %.9g", what, channel,
                 (double)widths[channel], (double)found, wanted);
}

static network *parse(const char *math, const char *layers)
{
    char cfg[1024];
    network *net;

    (void)snprintf(cfg, sizeof cfg, NET "%s%s" END, math, layers);
    net = net_parse(cfg);
    assert_int_equal(net->inputs * net->batch, VALUES);
    for (int i = 0; i < net->n - 1; i++) {
        fill(net->layers[i].scales, CHANNELS, 7);
        fill(net->layers[i].biases, CHANNELS, 8);
    }
    return net;
}

static void fill_input(network *net)
{
    fill(net->input, VALUES, 1);
    for (int channel = 0; channel < CHANNELS; channel++)
        for (int i = 0; i < COUNT; i++)
            net->input[at(channel, i)] = 0.5F + widths[channel] * net->input[at(channel, i)];
}

static void compare_backward(const layer *l, const float *x, const float *before, int channel,
                             double mean, double variance)
{
    double sum = 0, product = 0, scale = (double)l->scales[channel] / deviation(variance);

    for (int i = 0; i < COUNT; i++) {
        double d = (double)before[at(channel, i)];

        sum += d;
        product += d * ((double)x[at(channel, i)] - mean) / deviation(variance);
    }
    expect("the bias's update", channel, l->bias_updates[channel], sum, COUNT);
    expect("the scale's update", channel, l->scale_updates[channel], product, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double distance = ((double)x[at(channel, i)] - mean) / deviation(variance);
        double wanted =
            scale * ((double)before[at(channel, i)] - sum / COUNT - distance * product / COUNT);

        expect("the delta", channel, l->delta[at(channel, i)], wanted, fabs(scale));
    }
}

static void trains_by_its_definition(const char *math)
{
    network *net = parse(math, "[batchnorm]\n");
    layer *l = &net->layers[0];
    float before[VALUES];
    network state;

    fill_input(net);
    fill(before, VALUES, 3);
    memcpy(l->delta, before, sizeof before);
    state = *net;
    state.train = 1;
    state.delta = NULL;
    forward_batchnorm_layer(*l, state);
    backward_batchnorm_layer(*l, state);
    for (int channel = 0; channel < CHANNELS; channel++) {
        double mean, variance;

        moments(net->input, channel, &mean, &variance);
        for (int i = 0; i < COUNT; i++) {
            double x = (double)net->input[at(channel, i)];

            expect("the output", channel, l->output[at(channel, i)],
                   (x - mean) * (double)l->scales[channel] / deviation(variance)
                       + (double)l->biases[channel],
                   1);
        }
        compare_backward(l, net->input, before, channel, mean, variance);
    }
    free_network(net);
}

static void darknets_cfgs_train_by_the_definition(void **state)
{
    (void)state;
    trains_by_its_definition("");
}

static void the_forks_cfgs_train_by_the_definition(void **state)
{
    (void)state;
    trains_by_its_definition("yolo_math=v4\n");
}

static void fill_rolling(const layer *l)
{
    fill(l->rolling_mean, CHANNELS, 4);
    for (int channel = 0; channel < CHANNELS; channel++)
        l->rolling_variance[channel] = widths[channel] * widths[channel];
}

static void tests_by_its_definition(const char *math)
{
    network *net = parse(math, "[batchnorm]\n");
    const layer *l = &net->layers[0];

    fill_rolling(l);
    fill_input(net);
    net->train = 0;
    forward_batchnorm_layer(*l, *net);
    for (int channel = 0; channel < CHANNELS; channel++) {
        double scale = (double)l->scales[channel]
                       / deviation((double)widths[channel] * (double)widths[channel]);

        for (int i = 0; i < COUNT; i++)
            expect("the output in testing", channel, l->output[at(channel, i)],
                   ((double)net->input[at(channel, i)] - (double)l->rolling_mean[channel]) * scale
                       + (double)l->biases[channel],
                   fabs(scale));
    }
    free_network(net);
}

static void every_cfg_tests_by_the_definition(void **state)
{
    (void)state;
    tests_by_its_definition("");
    tests_by_its_definition("yolo_math=v4\n");
}

/* With BatchNorm in its weights a layer says what it said before. */
static void compare_folded(const char *layers, void (*fold)(layer))
{
    network *net = parse("", layers);
    layer *l = &net->layers[0];
    int count = l->outputs * l->batch;
    float *before = calloc((size_t)count, sizeof *before);
    double size = 0, off = 0;

    fill_rolling(l);
    fill(net->input, VALUES, 1);
    net->train = 0;
    l->forward(*l, *net);
    memcpy(before, l->output, (size_t)count * sizeof *before);
    fold(*l);
    l->batch_normalize = 0;
    l->forward(*l, *net);
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs((double)before[i]));
        off = fmax(off, fabs((double)before[i] - (double)l->output[i]));
    }
    if (!(size > 1 && off < 1e-5 * size))
        fail_msg("%s: outputs to %g are off by %g with BatchNorm in the weights", layers, size,
                 off);
    free(before);
    free_network(net);
}

static void weights_that_it_is_put_into_divide_alike(void **state)
{
    (void)state;
    compare_folded("[convolutional]\nbatch_normalize=1\nfilters=5\nsize=3\npad=1\n"
                   "activation=linear\n",
                   denormalize_convolutional_layer);
    compare_folded("[connected]\nbatch_normalize=1\noutput=5\nactivation=linear\n",
                   denormalize_connected_layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(darknets_cfgs_train_by_the_definition),
        cmocka_unit_test(the_forks_cfgs_train_by_the_definition),
        cmocka_unit_test(every_cfg_tests_by_the_definition),
        cmocka_unit_test(weights_that_it_is_put_into_divide_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
