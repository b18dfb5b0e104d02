/* ddp-test: quick */
/* One layer in bf16 on a CPU against the same layer in float32. Both get one input and one delta,
 * which are numbers that bf16 can hold. For each type of layer and class of shapes, the relative
 * error of the norm must be below 0.5 %: of the output, of each gradient, and of the delta that is
 * passed back. It must be below 1 % where Winograd's algorithm suits, as a CPU without AMX has it.
 * Twice: by a float32 product of values that bf16 can hold, which every CPU has, and
 * by the CPU's own bf16, if it has that. The test prints the errors, in percent. (glue.bf16_host
 * has networks of several layers.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include <layers/bf16/host.h>
#include <layers/onednn/layer_shape.h>
#include <layers/winograd/rows.h>
#include <math.h>
#include <network.h>
#include <stdlib.h>

#define LIMIT .005
#define LIMIT_OF_WINOGRAD .01

/* A layer in front of the one that is looked at. It multiplies each channel by 1 or -1/2, which
 * rounds nothing. */
#define EXACT(c) "[convolutional]\nsize=1\nstride=1\nfilters=" #c "\nactivation=linear\n"
#define CONV(c, more) "[convolutional]\npad=1\nfilters=" #c "\n" more
#define BN "batch_normalize=1\n"
#define S1 "size=1\nstride=1\n"
#define S3 "size=3\nstride=1\n"
#define A(a) "activation=" #a "\n"

static const struct {
    const char *name;
    int channels, side;
    int before; /* how many layers stand in front of those that are looked at */
    const char *layers;
} cases[] = {
    {"1x1, linear", 16, 12, 1, EXACT(16) CONV(24, S1 A(linear))},
    {"1x1, leaky", 16, 12, 1, EXACT(16) CONV(24, S1 A(leaky))},
    {"1x1, mish", 16, 12, 1, EXACT(16) CONV(24, S1 A(mish))},
    {"1x1, BatchNorm, leaky", 16, 12, 1, EXACT(16) CONV(24, BN S1 A(leaky))},
    {"1x1, 256 to 64 channels, BatchNorm, mish", 256, 8, 1, EXACT(256) CONV(64, BN S1 A(mish))},
    {"3x3, linear", 16, 12, 1, EXACT(16) CONV(24, S3 A(linear))},
    {"3x3, BatchNorm, linear", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(linear))},
    {"3x3, BatchNorm, leaky", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(leaky))},
    {"3x3, BatchNorm, relu", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(relu))},
    {"3x3, BatchNorm, relu6", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(relu6))},
    {"3x3, BatchNorm, mish", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(mish))},
    {"3x3, BatchNorm, swish", 16, 12, 1, EXACT(16) CONV(24, BN S3 A(swish))},
    {"3x3, 128 channels, BatchNorm, leaky", 128, 8, 1, EXACT(128) CONV(128, BN S3 A(leaky))},
    {"3x3, 32 channels of 13x13, linear", 32, 13, 1, EXACT(32) CONV(32, S3 A(linear))},
    {"3x3, 3 channels, BatchNorm, leaky", 3, 24, 1, EXACT(3) CONV(16, BN S3 A(leaky))},
    {"7x7, stride 2, BatchNorm, relu", 3, 32, 1,
     EXACT(3) CONV(32, BN "size=7\nstride=2\n" A(relu))},
    {"3x3, dilation 2, BatchNorm, leaky", 16, 12, 1,
     EXACT(16) CONV(24, BN S3 "dilation=2\n" A(leaky))},
    {"3x3, 4 groups, BatchNorm, leaky", 32, 12, 1, EXACT(32) CONV(32, BN S3 "groups=4\n" A(leaky))},
    {"3x3, a group a channel, BatchNorm, swish", 32, 12, 1,
     EXACT(32) CONV(32, BN S3 "groups=32\n" A(swish))},
    {"connected, of a picture, leaky", 16, 6, 1, EXACT(16) "[connected]\noutput=40\n" A(leaky)},
    {"connected, of a pixel, BatchNorm, mish", 64, 1, 1,
     EXACT(64) "[connected]\noutput=24\n" BN A(mish)},
    {"BatchNorm and shortcut", 16, 12, 1,
     EXACT(16) CONV(16, BN S3 A(leaky)) "[shortcut]\nfrom=-2\n" A(linear)},
    {"BatchNorm and shortcut, relu", 16, 12, 1,
     EXACT(16) CONV(16, BN S3 A(linear)) "[shortcut]\nfrom=-2\n" A(relu)},
    {"BatchNorm and shortcut, leaky twice", 16, 12, 1,
     EXACT(16) CONV(16, BN S3 A(leaky)) "[shortcut]\nfrom=-2\n" A(leaky)},
    {"BatchNorm, mish, and shortcut, leaky", 16, 12, 1,
     EXACT(16) CONV(16, BN S3 A(mish)) "[shortcut]\nfrom=-2\n" A(leaky)},
    {"BatchNorm and shortcut of 32 and 16 channels", 16, 12, 1,
     EXACT(16) CONV(32, BN S3 A(leaky)) "[shortcut]\nfrom=-2\nalpha=.5\nbeta=.25\n" A(leaky)},
    {"BatchNorm and shortcut of 16 and 32 channels", 32, 12, 1,
     EXACT(32) CONV(16, BN S3 A(relu)) "[shortcut]\nfrom=-2\n" A(linear)},
    {"BatchNorm and shortcut of 6x6 and 12x12", 16, 12, 1,
     EXACT(16) CONV(32, BN "size=3\nstride=2\npad=1\n" A(linear)) "[shortcut]\nfrom=-2\n" A(relu)},
    {"shortcut", 16, 12, 2, EXACT(16) EXACT(16) "[shortcut]\nfrom=-2\n" A(leaky)},
    {"shortcut of 24 and 16 channels", 16, 12, 1,
     EXACT(16) CONV(24, S1 A(linear)) "[shortcut]\nfrom=-2\nalpha=.5\nbeta=.25\n" A(leaky)},
    {"route", 16, 12, 2, EXACT(16) EXACT(16) "[route]\nlayers=-1,-2\n"},
    {"maxpool", 16, 12, 1, EXACT(16) "[maxpool]\nsize=3\nstride=2\n"},
    {"upsample", 16, 12, 1, EXACT(16) "[upsample]\nstride=2\n"},
    {"avgpool", 16, 12, 1, EXACT(16) "[avgpool]\n"},
    {"sam", 16, 12, 2, EXACT(16) EXACT(16) "[sam]\nfrom=-2\n" A(linear)},
    {"scale_channels", 16, 12, 2, EXACT(16) "[avgpool]\n[scale_channels]\nfrom=-2\n" A(linear)},
};

enum { BATCH = 16 };

static size_t values_of(const layer *l)
{
    return (size_t)(l->outputs * l->batch);
}

static int is_convolved(const layer *l)
{
    return l->type == CONVOLUTIONAL || l->type == CONNECTED;
}

static float pseudo(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (float)(*seed >> 8) / 8388608 - 1;
}

static float rounded(float x)
{
    return half_to_float(half_of_float(x));
}

static void set_exact_weights(layer *l)
{
    for (int k = 0; k < l->n; k++) {
        memset(l->weights + k * l->c, 0, (size_t)l->c * sizeof(float));
        l->weights[k * l->c + k] = k % 3 ? 1 : -.5F;
    }
}

static void set_weights(layer *l)
{
    unsigned seed = 3;
    int fan_in = l->type == CONNECTED ? l->inputs : l->size * l->size * l->c / l->groups;

    for (int i = 0; i < fan_in * l->out_c; i++)
        l->weights[i] = sqrtf(3.F / (float)fan_in) * pseudo(&seed);
    for (int k = 0; k < l->out_c; k++) {
        l->biases[k] = .5F * pseudo(&seed);
        if (l->scales)
            l->scales[k] = 1 + .1F * (float)(k % 5);
    }
}

/* What a layer gets from an activation: more above zero than below. */
static void set_input(float *x, size_t n)
{
    unsigned seed = 1;

    for (size_t i = 0; i < n; i++) {
        float value = pseudo(&seed) + pseudo(&seed);

        x[i] = rounded(value > 0 ? value : .1F * value);
    }
}

static void set_delta(float *delta, size_t n)
{
    unsigned seed = 2;

    for (size_t i = 0; i < n; i++)
        delta[i] = rounded(pseudo(&seed) * pseudo(&seed));
}

static network *made(int which, int in_bf16)
{
    char cfg[4096];
    network *net;

    (void)snprintf(cfg, sizeof cfg, "[net]\nbatch=%d\nwidth=%d\nheight=%d\nchannels=%d\n%s[cost]\n",
                   BATCH, cases[which].side, cases[which].side, cases[which].channels,
                   cases[which].layers);
    bf16_wanted = in_bf16;
    net = net_parse(cfg);
    bf16_wanted = 0;
    for (int i = 0; i < net->n; i++)
        if (is_convolved(&net->layers[i]))
            (i < cases[which].before ? set_exact_weights : set_weights)(&net->layers[i]);
    set_input(net->input, (size_t)(net->inputs * net->batch));
    net->train = 1;
    forward_network(net);
    return net;
}

static void go_back(network *net)
{
    layer *cost = &net->layers[net->n - 1];

    set_delta(cost->delta, values_of(cost));
    backward_network(net);
}

/* Copy the outputs of `from` to the layers of `to`, which is in float32. At the corner of an
 * activation, leaky's at zero, the gradient jumps. So both networks must be on one side of it. */
static void take_outputs(network *to, network *from)
{
    for (int i = 0; i < to->n - 1; i++)
        memcpy(to->layers[i].output, pull_layer_output(from, i),
               values_of(&to->layers[i]) * sizeof(float));
}

static double error_of(const float *found, const float *wanted, size_t n)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        error += pow((double)found[i] - (double)wanted[i], 2);
        norm += pow((double)wanted[i], 2);
    }
    return norm > 0 ? sqrt(error / norm) : HUGE_VAL;
}

static double limit = LIMIT;

static double limit_of(const network *net)
{
    for (int i = 0; i < net->n; i++) {
        const convolution_shape s = layer_shape(&net->layers[i], 1);

        if (net->layers[i].type == CONVOLUTIONAL && winograd_rows_suit(&s))
            return LIMIT_OF_WINOGRAD;
    }
    return LIMIT;
}

static void expect(const char *what, const float *found, const float *wanted, size_t n)
{
    double error = error_of(found, wanted, n);

    print_message(" %s %.2f", what, 100 * error);
    if (!(error <= limit))
        fail_msg("%s: relative error %.4f", what, error);
}

static void compare_updates(const layer *found, const layer *wanted)
{
    size_t weights =
        (size_t)(wanted->type == CONNECTED ? wanted->inputs * wanted->outputs : wanted->nweights);

    expect("weights", found->weight_updates, wanted->weight_updates, weights);
    expect("biases", found->bias_updates, wanted->bias_updates, (size_t)wanted->out_c);
    if (wanted->batch_normalize)
        expect("scales", found->scale_updates, wanted->scale_updates, (size_t)wanted->out_c);
}

static void compare_delta(const layer *found, const layer *wanted)
{
    size_t n = values_of(wanted);
    float *delta = calloc(n, sizeof *delta);

    bf16_pull_delta(*found, delta);
    expect("delta", delta, wanted->delta, n);
    free(delta);
}

static void compare(int which)
{
    network *wanted = made(which, 0), *found = made(which, 1);
    int last = wanted->n - 2;

    limit = limit_of(wanted);
    print_message("%s:", cases[which].name);
    for (int i = 0; i <= last; i++)
        assert_int_equal(bf16_runs(found->layers[i]), 1);
    expect("output", pull_layer_output(found, last), wanted->layers[last].output,
           values_of(&wanted->layers[last]));
    take_outputs(wanted, found);
    go_back(wanted);
    go_back(found);
    for (int i = cases[which].before; i <= last; i++)
        if (is_convolved(&wanted->layers[i]))
            compare_updates(&found->layers[i], &wanted->layers[i]);
    for (int i = 0; i < cases[which].before; i++)
        compare_delta(&found->layers[i], &wanted->layers[i]);
    print_message("\n");
    free_network(wanted);
    free_network(found);
}

static void compare_all(int emulated)
{
    bf16_emulated = emulated;
    if (bf16_host.missing())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare((int)i);
    bf16_emulated = 0;
}

static void each_layer_is_that_of_float32_emulated(void **state)
{
    (void)state;
    compare_all(1);
}

static void each_layer_is_that_of_float32(void **state)
{
    (void)state;
    compare_all(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer_is_that_of_float32_emulated),
        cmocka_unit_test(each_layer_is_that_of_float32),
    };

    gpu_index = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
