/* ddp-test: quick */
/* First weights, of each layer type that draws any and each kind of cfg: mean, variance, bounds.
 * Evenly from -s to s: a variance of s^2/3, and nothing beyond s. Normally: s^2, and much beyond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/first_weights.h"
#include "net.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 8, CHANNELS = 16, FILTERS = 64, OUTPUTS = 64 };

/* Keys of [net], and whether convolutions are then drawn evenly. */
struct cfg {
    const char *keys;
    int evenly;
};

static const struct cfg cfgs[] = {
    {"", 0},
    {"yolo_math=v4\n", 1},
    {"mosaic=1\n", 1}, /* a key of the forks says it, too */
    {"weights_init=uniform\n", 1},
    {"weights_init=normal\n", 0},
    {"yolo_math=v4\nweights_init=normal\n", 0},
    {"yolo_math=v4\nweights_init=uniform\n", 1},
};

static network *parse(const struct cfg *cfg, const char *layers)
{
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "[net]\nbatch=2\ntime_steps=1\nwidth=8\nheight=8\nchannels=16\n%s%s"
                   "[cost]\ntype=sse\n",
                   cfg->keys, layers);
    srand(7);
    return net_parse(text);
}

/* Check n numbers of variance v: their mean is within 5 of its deviations of 0, and their variance
 * within 5 of v's, which is at most v*sqrt(2/n). */
static void expect(const char *what, const struct cfg *cfg, const float *w, int n, double s,
                   int evenly)
{
    double mean = 0, squares = 0, most = 0, variance = evenly ? s * s / 3 : s * s;

    for (int i = 0; i < n; i++) {
        mean += (double)w[i] / n;
        squares += (double)w[i] * (double)w[i] / n;
        most = fmax(most, fabs((double)w[i]));
    }
    if (!(fabs(mean) <= 5 * sqrt(variance / n)))
        fail_msg("%s, %s: the mean of %d is %g", what, cfg->keys, n, mean);
    if (!(fabs(squares - variance) <= 5 * variance * sqrt(2. / n)))
        fail_msg("%s, %s: a variance of %g and not %g", what, cfg->keys, squares, variance);
    if (evenly ? !(most <= s * (1 + 1e-6) && most >= .99 * s) : !(most > 2 * s))
        fail_msg("%s, %s: the largest is %g, and the scale %g", what, cfg->keys, most, s);
}

static void convolutions(const struct cfg *cfg)
{
    network *net = parse(cfg, "[convolutional]\nfilters=64\nsize=3\npad=1\nactivation=leaky\n"
                              "[convolutional]\nfilters=64\nsize=1\nbatch_normalize=1\n"
                              "activation=linear\n"
                              "[convolutional]\nfilters=64\nsize=3\npad=1\ngroups=4\n"
                              "activation=leaky\n");
    const layer *l = net->layers;

    expect("3x3", cfg, l[0].weights, l[0].nweights, sqrt(2. / (9 * CHANNELS)), cfg->evenly);
    expect("1x1", cfg, l[1].weights, l[1].nweights, sqrt(2. / FILTERS), cfg->evenly);
    assert_int_equal(l[2].nweights, FILTERS * FILTERS / 4 * 9);
    expect("groups", cfg, l[2].weights, l[2].nweights, sqrt(2. / (9 * FILTERS / 4)), cfg->evenly);
    free_network(net);
}

static void recurrent_convolutions(const struct cfg *cfg)
{
    network *net = parse(cfg, "[crnn]\noutput_filters=64\nhidden_filters=64\nactivation=leaky\n");
    const layer *l = net->layers;

    expect("crnn's input", cfg, l->input_layer->weights, l->input_layer->nweights,
           sqrt(2. / (9 * CHANNELS)), cfg->evenly);
    expect("crnn's self", cfg, l->self_layer->weights, l->self_layer->nweights,
           sqrt(2. / (9 * FILTERS)), cfg->evenly);
    expect("crnn's output", cfg, l->output_layer->weights, l->output_layer->nweights,
           sqrt(2. / (9 * FILTERS)), cfg->evenly);
    free_network(net);
}

static void expect_connected(const char *what, const struct cfg *cfg, const layer *l)
{
    expect(what, cfg, l->weights, l->inputs * l->outputs, sqrt(2. / l->inputs), 1);
}

/* Both programs draw these alike. */
static void others(const struct cfg *cfg)
{
    network *net = parse(cfg, "[local]\nfilters=64\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
                              "[deconvolutional]\nfilters=16\nsize=3\nstride=1\npad=1\n"
                              "activation=linear\n"
                              "[connected]\noutput=64\nactivation=leaky\n"
                              "[rnn]\noutput=64\nactivation=leaky\n"
                              "[gru]\noutput=64\n[lstm]\noutput=64\n");
    const layer *l = net->layers;

    /* Darknet draws those of one place. */
    expect("local", cfg, l[0].weights, 9 * CHANNELS * FILTERS, sqrt(2. / (9 * CHANNELS)), 1);
    expect("deconvolutional", cfg, l[1].weights, l[1].nweights, .02, 0);
    expect_connected("connected", cfg, &l[2]);
    expect_connected("rnn's input", cfg, l[3].input_layer);
    expect_connected("rnn's self", cfg, l[3].self_layer);
    expect_connected("gru's uz", cfg, l[4].uz);
    expect_connected("lstm's wf", cfg, l[5].wf);
    free_network(net);
}

/* A cfg with this layer is the forks' in any case. */
static void implicit(const struct cfg *cfg)
{
    network *net = parse(cfg, "[implicit]\nfilters=4096\nmean=0\nstd=.5\n");

    expect("implicit", cfg, net->layers[0].weights, net->layers[0].nweights, .5, 1);
    free_network(net);
}

static void each(void (*body)(const struct cfg *cfg))
{
    for (size_t i = 0; i < sizeof cfgs / sizeof cfgs[0]; i++)
        body(&cfgs[i]);
}

static void skipped_ones_are_zero(void **state)
{
    network *net;

    (void)state;
    skip_first_weights(1);
    net = parse(&cfgs[0], "[convolutional]\nfilters=64\nsize=3\npad=1\nactivation=leaky\n");
    skip_first_weights(0);
    for (int i = 0; i < net->layers[0].nweights; i++)
        assert_true(net->layers[0].weights[i] == 0);
    free_network(net);
    convolutions(&cfgs[0]);
}

static void convolutions_as_the_cfg_says(void **state)
{
    (void)state;
    each(convolutions);
}

static void convolutions_of_a_recurrent_layer_too(void **state)
{
    (void)state;
    each(recurrent_convolutions);
}

static void others_as_ever(void **state)
{
    (void)state;
    each(others);
    each(implicit);
}

/* Darknet's cfgs get the numbers that Darknet has always drawn. */
static void darknets_cfgs_have_darknets_weights(void **state)
{
    network *net =
        parse(&cfgs[0], "[convolutional]\nfilters=64\nsize=3\npad=1\nactivation=leaky\n");
    double scale = sqrt(2. / (9 * CHANNELS));

    (void)state;
    srand(7);
    for (int i = 0; i < net->layers[0].nweights; i++)
        assert_true(net->layers[0].weights[i] == (float)scale * rand_normal());
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_ones_are_zero),
        cmocka_unit_test(convolutions_as_the_cfg_says),
        cmocka_unit_test(convolutions_of_a_recurrent_layer_too),
        cmocka_unit_test(others_as_ever),
        cmocka_unit_test(darknets_cfgs_have_darknets_weights),
    };

    return cmocka_run_group_tests_name("first_weights", tests, NULL, NULL);
}
