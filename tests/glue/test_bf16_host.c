/* ddp-test: quick */
/* Networks of a few layers in bf16 on a CPU against the same in float32: outputs and gradients, for
 * each type of layer and the ways in which they read each other. Errors of several layers add up.
 * The relative error of each array's norm must be below 1 %, of weights' gradients 1.5 %; of biases
 * and scales, whose gradients are sums that cancel in part, 2.5 %. Twice: by a float32 product of
 * values that bf16 can hold, which every CPU has, and by the CPU's own bf16, if it has that.
 * (glue.bf16_gradients has single layers.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include <layers/bf16/host.h>
#include <math.h>
#include <network.h>
#include <stdlib.h>
#include <string.h>

#define NET "[net]\nbatch=3\nwidth=14\nheight=10\nchannels=3\nlearning_rate=.01\n"
#define CONV(filters, more) "[convolutional]\nstride=1\npad=1\nfilters=" #filters "\n" more
#define BN "batch_normalize=1\n"
#define HALF "size=3\nstride_x=2\nstride_y=2\n"
#define LINEAR3 "size=3\nactivation=linear\n"
#define UPSAMPLE "[upsample]\nstride=2\n"
#define SHORTCUT3 "[shortcut]\nfrom=-3\nactivation=linear\n"
#define LAST "[convolutional]\nsize=1\nstride=1\nfilters=5\nactivation=linear\n[cost]\ntype=sse\n"

static const struct {
    const char *name, *layers;
    int in_bf16; /* layers, the last convolution among them */
} cases[] =
    {
        {"biases", CONV(8, "size=3\nactivation=mish\n") CONV(6, "size=3\nactivation=linear\n"), 3},
        {"batchnorm",
         CONV(16, BN "size=3\nactivation=mish\n") CONV(24, BN "size=1\nactivation=swish\n"), 3},
        {"wide", CONV(40, BN "size=3\nactivation=mish\n"), 2},
        {"stride", CONV(8, BN "size=5\nstride_x=2\nactivation=mish\n"), 2},
        {"dilation", CONV(8, BN "size=3\ndilation=2\nactivation=mish\n"), 2},
        {"groups",
         CONV(8, BN "size=3\nactivation=mish\n") CONV(16, BN "size=3\ngroups=8\nactivation=mish\n"),
         3},
        {"shortcut",
         CONV(8, BN "size=3\nactivation=mish\n") CONV(4, BN "size=1\nactivation=mish\n")
             CONV(8, BN "size=3\nactivation=linear\n") "[shortcut]\nfrom=-3\nactivation="
                                                       "linear\n" CONV(8, "size=1\nactivation="
                                                                          "linear\n") "[shortcut]"
                                                                                      "\nfrom=-"
                                                                                      "2\nactivatio"
                                                                                      "n=linear\n",
         7},
        {"shortcut of two sizes",
         CONV(16, BN "size=3\nactivation=mish\n")
             CONV(8, BN "size=3\nactivation=mish\n") "[shortcut]\nfrom=-2\nactivation=linear\n",
         4},
        {"shortcut of fewer pixels and more channels",
         CONV(64, BN HALF "activation=mish\n") UPSAMPLE CONV(16, BN LINEAR3) SHORTCUT3, 5},
        {"route",
         CONV(8, BN "size=3\nactivation=mish\n")
             CONV(16, BN "size=3\nactivation=mish\n") "[route]\nlayers=-1,-2\n" CONV(
                 8, "size=1\nactivation=mish\n") "[route]\nlayers=-1,-3\ngroups=2\ngroup_id=1\n",
         6},
        {"upsample",
         CONV(8, BN "size=3\nstride_x=2\nstride_y=2\nactivation=mish\n") "[upsample]\nstride=2\n",
         3},
        {"maxpool",
         "[maxpool]\nsize=2\nstride=2\n" CONV(
             8, BN "size=3\nactivation=mish\n") "[maxpool]\nsize=1\nstride=2\n",
         3},
        {"connected",
         CONV(8, BN
              "size=3\nactivation=mish\n") "[avgpool]\n[connected]\noutput=12\nactivation=mish\n",
         4},
        {"connected that stays in float32, for its picture is no square",
         CONV(8, BN "size=3\nactivation=mish\n") "[connected]\noutput=12\nactivation=mish\n", 2},
        {"avgpool", CONV(8, BN "size=3\nactivation=mish\n") "[avgpool]\n", 3},
        {"sam",
         CONV(8, BN "size=3\nactivation=mish\n")
             CONV(8, "size=1\nactivation=logistic\n") "[sam]\nfrom=-2\nactivation=linear\n" CONV(
                 8, "size=1\nactivation=mish\n") "[sam]\nfrom=-2\nactivation=mish\n",
         5},
        {"scale_channels",
         CONV(8, BN "size=3\nactivation=mish\n") "[avgpool]\n" CONV(8, "size=1\nactivation=mish\n") "[scale_channels]\nfrom=-3\nactivation=linear\n" CONV(
             6,
             "size=1\nactivation=mish\n") "[avgpool]\n" CONV(6,
                                                             "size=1\nactivation=linear\n") "[scale"
                                                                                            "_chann"
                                                                                            "els]"
                                                                                            "\nfrom"
                                                                                            "=-"
                                                                                            "3\nact"
                                                                                            "ivatio"
                                                                                            "n="
                                                                                            "swish"
                                                                                            "\n",
         9},
        {"scale_channels of cells",
         CONV(8, BN "size=3\nactivation=mish\n")
             CONV(1, "size=1\nactivation=mish\n") "[scale_channels]\nfrom=-2\nscale_wh="
                                                  "1\nactivation=swish\n",
         4},
        {"float32 between",
         CONV(8, BN "size=3\nactivation=mish\n") "[reorg]\nstride=2\n" CONV(
             8, "size=1\nactivation=mish\n")
             CONV(8, BN "size=3\nactivation=elu\n") "[shortcut]\nfrom=-2\nactivation=linear\n",
         4},
};

static float pseudo(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (float)(*seed >> 8) / 8388608 - 1;
}

/* Values whose products differ enough that a sum is not lost in rounding. */
static void fill(float *x, size_t n, unsigned seed, float scale)
{
    for (size_t i = 0; x && i < n; i++)
        x[i] = scale * pseudo(&seed);
}

/* Deltas of an earlier mini-batch, of which nothing may be left: NaN. */
static void spoil_deltas(network *net)
{
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        if (l->bf16 && l->bf16->delta)
            memset(l->bf16->delta, 0xff, (size_t)(l->outputs * l->batch) * sizeof(half));
    }
}

static network *trained(const char *layers, int in_bf16)
{
    char cfg[4096];
    network *net;

    (void)snprintf(cfg, sizeof cfg, NET "%s" LAST, layers);
    bf16_wanted = in_bf16;
    net = net_parse(cfg);
    bf16_wanted = 0;
    for (int i = 0; i < net->n; i++) {
        layer *l = &net->layers[i];

        if (l->type == CONNECTED)
            fill(l->weights, (size_t)(l->inputs * l->outputs), 3, sqrtf(3.F / (float)l->inputs));
        if (l->type != CONVOLUTIONAL)
            continue;
        fill(l->weights, (size_t)l->nweights, 3 + (unsigned)i,
             sqrtf(3.F / (float)(l->size * l->size * l->c / l->groups)));
        fill(l->biases, (size_t)l->n, 5, .5F);
        for (int k = 0; l->scales && k < l->n; k++)
            l->scales[k] = 1 + .1F * (float)(k % 5);
    }
    fill(net->input, (size_t)(net->inputs * net->batch), 1, 1);
    fill(net->truth, (size_t)(net->truths * net->batch), 2, 3);
    for (int i = 0; i < net->truths * net->batch; i++)
        net->truth[i] += 1;
    net->train = 1;
    spoil_deltas(net);
    forward_network(net);
    backward_network(net);
    return net;
}

static void expect(const char *what, int layer, const float *found, const float *wanted, size_t n,
                   double limit)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        error += pow((double)found[i] - (double)wanted[i], 2);
        norm += pow((double)wanted[i], 2);
    }
    if (!(sqrt(error) <= limit * sqrt(norm)) || norm == 0)
        fail_msg("%s of layer %d: relative error %.4f", what, layer, sqrt(error / norm));
}

static void compare_convolution(int i, const layer *found, const layer *wanted)
{
    expect("weights' gradient", i, found->weight_updates, wanted->weight_updates,
           (size_t)wanted->nweights, .015);
    expect("biases' gradient", i, found->bias_updates, wanted->bias_updates, (size_t)wanted->n,
           .025);
    if (!wanted->batch_normalize)
        return;
    expect("scales' gradient", i, found->scale_updates, wanted->scale_updates, (size_t)wanted->n,
           .025);
    expect("running mean", i, found->rolling_mean, wanted->rolling_mean, (size_t)wanted->n, .01);
    expect("running variance", i, found->rolling_variance, wanted->rolling_variance,
           (size_t)wanted->n, .01);
}

static void compare(int which)
{
    network *wanted = trained(cases[which].layers, 0), *found = trained(cases[which].layers, 1);
    int in_bf16 = 0;

    for (int i = 0; i < wanted->n - 1; i++) {
        const layer *l = &wanted->layers[i];

        in_bf16 += bf16_runs(found->layers[i]);
        expect(cases[which].name, i, pull_layer_output(found, i), l->output,
               (size_t)(l->outputs * l->batch), .01);
        if (l->type == CONVOLUTIONAL)
            compare_convolution(i, &found->layers[i], l);
    }
    assert_int_equal(in_bf16, cases[which].in_bf16);
    free_network(wanted);
    free_network(found);
}

static void compare_all(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare((int)i);
}

static void layers_are_those_of_float32(void **state)
{
    (void)state;
    if (bf16_host.missing())
        skip();
    compare_all();
}

static void layers_are_those_of_float32_emulated(void **state)
{
    (void)state;
    bf16_emulated = 1;
    if (bf16_host.missing())
        skip();
    compare_all();
    bf16_emulated = 0;
}

/* Validation sets another batch, for which a convolution takes slices of another size. */
static void a_smaller_batch_runs_in_smaller_slices(void **state)
{
    network *net;
    float *before;
    size_t n;

    (void)state;
    bf16_emulated = 1;
    if (bf16_host.missing())
        skip();
    net = trained(cases[1].layers, 1);
    n = (size_t)net->layers[1].outputs;
    net->train = 0;
    forward_network(net);
    before = calloc(n, sizeof *before);
    memcpy(before, pull_layer_output(net, 1), n * sizeof *before);
    set_batch_network(net, 1);
    forward_network(net);
    assert_memory_equal(pull_layer_output(net, 1), before, n * sizeof *before);
    free(before);
    free_network(net);
    bf16_emulated = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_those_of_float32_emulated),
        cmocka_unit_test(layers_are_those_of_float32),
        cmocka_unit_test(a_smaller_batch_runs_in_smaller_slices),
    };

    gpu_index = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
