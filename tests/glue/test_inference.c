/* ddp-test: quick */
/* A plan of a network (layers/inference/plan.h) beside network_predict. */
#include "layers/inference/plan.h"
#include "layers/onednn/convolution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

#include "net.h"

#define NET(side) "[net]\nbatch=2\nwidth=" #side "\nheight=" #side "\nchannels=3\n"
#define CONVOLUTION(filters, size, activation)                                                     \
    "[convolutional]\nbatch_normalize=1\nfilters=" #filters "\nsize=" #size                        \
    "\nstride=1\npad=1\nactivation=" #activation "\n"
#define PLAIN(filters, activation)                                                                 \
    "[convolutional]\nfilters=" #filters "\nsize=1\nstride=1\nactivation=" #activation "\n"
#define HALVE(filters)                                                                             \
    "[convolutional]\nbatch_normalize=1\nfilters=" #filters                                        \
    "\nsize=3\nstride=2\npad=1\nactivation=leaky\n"
#define HEAD "[yolo]\nmask=0,1,2\nanchors=4,4,8,8,16,16\nclasses=4\nnum=3\n"

static const struct {
    const char *name, *cfg;
} networks[] = {
    {"a detector", NET(64) CONVOLUTION(8, 3, leaky) "[maxpool]\nsize=2\nstride=2\n" CONVOLUTION(
                       16, 3, mish) "[maxpool]\nsize=2\nstride=1\n" CONVOLUTION(16, 1, swish)
                       PLAIN(27, linear) HEAD
     "[route]\nlayers=-3\n[upsample]\nstride=2\n[route]\nlayers=-1,0\n" CONVOLUTION(8, 3, relu)
         PLAIN(27, logistic) HEAD},
    {"residual blocks",
     NET(32) CONVOLUTION(8, 3, leaky) HALVE(16) CONVOLUTION(8, 1, leaky) CONVOLUTION(
         16, 3, mish) "[shortcut]\nfrom=-3\nactivation=linear\n" CONVOLUTION(8, 1, leaky)
         CONVOLUTION(16, 3, linear) "[shortcut]\nfrom=-3\nactivation=leaky\n" CONVOLUTION(
             16, 1, leaky) "[shortcut]\nfrom=-2\nactivation=linear\n"
                           "[avgpool]\n[dropout]\nprobability=.5\n"
                           "[connected]\noutput=10\nactivation=linear\n[softmax]\n"},
    {"convolutions by Winograd's algorithm", /* with sums after and before the activation */
     NET(36) CONVOLUTION(16, 3, leaky) CONVOLUTION(32, 3, mish) CONVOLUTION(
         32, 3, leaky) "[shortcut]\nfrom=-2\nactivation=linear\n" CONVOLUTION(32, 3, swish)
         CONVOLUTION(32, 3, linear) "[shortcut]\nfrom=-3\nactivation=leaky\n" HALVE(48) HALVE(48)
             CONVOLUTION(48, 3, mish) "[shortcut]\nfrom=-2\nactivation=linear\n" PLAIN(27, linear)
                 HEAD},
    {"shortcuts that stay apart", /* mish and leaky; one that another layer reads, too */
     NET(16) CONVOLUTION(8, 3, leaky)
         CONVOLUTION(8, 3, mish) "[shortcut]\nfrom=-2\nactivation=leaky\n" CONVOLUTION(
             8, 3, leaky) "[shortcut]\nfrom=-2\nactivation=linear\n[route]\nlayers=-1,-"
                          "2\n" PLAIN(5, linear)},
    {"groups",
     NET(32) CONVOLUTION(16, 3, leaky) "[route]\nlayers=-1\ngroups=2\ngroup_id=1\n" CONVOLUTION(
         8, 3, leaky) "[route]\nlayers=-1,-2\n"
                      "[convolutional]\nfilters=16\ngroups=16\nsize=3\nstride=2\npad=1\n"
                      "batch_normalize=1\nactivation=relu6\n" PLAIN(4, elu)},
    {"pools of pyramids",
     NET(13) CONVOLUTION(16, 3, leaky) "[maxpool]\nstride=1\nsize=5\n"
                                       "[route]\nlayers=-2\n[maxpool]\nstride=1\nsize=9\n"
                                       "[route]\nlayers=-1,-3\n[maxpool]\nstride=2\nsize=3\n" PLAIN(
                                           4, linear)},
    {"layers of others", /* [scale_channels], [local] run Darknet's code */
     NET(12) CONVOLUTION(8, 3, leaky) "[avgpool]\n" PLAIN(
         8, logistic) "[scale_channels]\nfrom=-3\n" CONVOLUTION(8, 3,
                                                                leaky) "[local]\nfilters=4\nsize="
                                                                       "3\nstride=1\npad="
                                                                       "1\nactivation="
                                                                       "leaky\n" PLAIN(4, linear)},
    {"two outputs of one layer",
     NET(16) CONVOLUTION(8, 3, leaky) "[dropout]\nprobability=.3\n" PLAIN(
         8, tanh) "[route]\nlayers=-1,1\n" PLAIN(6, linear)},
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* ---- values ---- */

static float next_value(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

/* Give BatchNorm statistics, scales and biases that a training might have left. */
static void fill(network *net)
{
    uint32_t state = 7;

    for (int i = 0; i < net->n; i++) {
        layer *l = &net->layers[i];

        for (int f = 0; l->biases && l->type == CONVOLUTIONAL && f < l->n; f++) {
            l->biases[f] = next_value(&state) / 2;
            if (!l->batch_normalize)
                continue;
            l->scales[f] = 1 + next_value(&state) / 2;
            l->rolling_mean[f] = next_value(&state) / 4;
            l->rolling_variance[f] = .5f + next_value(&state) / 4;
        }
    }
}

static float *random_input(const network *net, uint32_t state)
{
    float *x = test_malloc((size_t)(net->batch * net->inputs) * sizeof *x);

    for (int i = 0; i < net->batch * net->inputs; i++)
        x[i] = (next_value(&state) + 1) / 2;
    return x;
}

/* The outputs that predictions are made of: of the heads and of the last layer. */
static size_t gather_outputs(const network *net, float *out)
{
    size_t count = 0;

    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        if (l->type != YOLO && i < net->n - 1)
            continue;
        memcpy(out + count, l->output, (size_t)(l->outputs * l->batch) * sizeof *out);
        count += (size_t)(l->outputs * l->batch);
    }
    return count;
}

enum { ROOM = 1 << 20 };

static double distance(const float *a, const float *b, size_t count)
{
    double difference = 0, length = 0;

    for (size_t i = 0; i < count; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        length += (double)b[i] * (double)b[i];
    }
    return sqrt(difference / length);
}

static void compare(network *net, const char *name, int bf16, double allowed)
{
    inference_plan *plan = inference_open(net, bf16);
    float *own = test_malloc(ROOM * sizeof *own), *ours = test_malloc(ROOM * sizeof *ours);

    assert_non_null(plan);
    for (uint32_t seed = 1; seed < 4; seed++) { /* one picture leaves nothing to the next */
        float *input = random_input(net, seed);
        size_t count;
        double d;

        (void)network_predict(net, input);
        count = gather_outputs(net, own);
        for (int i = 0; i < net->n; i++)
            memset(net->layers[i].output, 0xff,
                   (size_t)(net->layers[i].outputs * net->layers[i].batch) * sizeof(float));
        assert_ptr_equal(inference_predict(plan, net, input), net->output);
        assert_int_equal(gather_outputs(net, ours), count);
        d = distance(ours, own, count);
        if (!(d <= allowed))
            fail_msg("%s, bf16=%d: outputs differ by %g", name, bf16, d);
        test_free(input);
    }
    test_free(own);
    test_free(ours);
    inference_close(plan);
}

static void each_network(int bf16, double allowed)
{
    for (int i = 0; i < NETWORKS; i++) {
        network *net = net_parse(networks[i].cfg);

        fill(net);
        compare(net, networks[i].name, bf16, allowed);
        free_network(net);
    }
}

static void a_plan_computes_what_the_network_does(void **state)
{
    (void)state;
    each_network(0, 2e-6);
}

static void a_plan_in_bf16_differs_by_its_rounding(void **state)
{
    (void)state;
    if (!convolution_has_bf16())
        skip();
    each_network(1, 2e-2);
}

static void a_plan_leaves_the_weights_alone(void **state)
{
    network *net = net_parse(networks[1].cfg);
    const layer *l = &net->layers[1];
    float before[16];
    inference_plan *plan;

    (void)state;
    fill(net);
    memcpy(before, l->weights, sizeof before);
    plan = inference_open(net, 0);
    assert_non_null(plan);
    assert_true(inference_bytes(plan) > (size_t)l->nweights * sizeof(float));
    assert_memory_equal(l->weights, before, sizeof before);
    inference_close(plan);
    free_network(net);
}

static void without_convolutions_there_is_no_plan(void **state)
{
    network *net = net_parse(NET(8) "[connected]\noutput=4\nactivation=linear\n[softmax]\n");
    float *input = random_input(net, 1);

    (void)state;
    assert_null(inference_open(net, 0));
    assert_ptr_equal(inference_predict(NULL, net, input), net->output);
    inference_close(NULL);
    test_free(input);
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_computes_what_the_network_does),
        cmocka_unit_test(a_plan_in_bf16_differs_by_its_rounding),
        cmocka_unit_test(a_plan_leaves_the_weights_alone),
        cmocka_unit_test(without_convolutions_there_is_no_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
