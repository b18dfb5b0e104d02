/* ddp-test: quick */
/* What later forks of Darknet brought: each activation's gradient, and that of every weight through
 * each new layer, against difference quotients; [route] with groups against the channels that it
 * takes; what is shared, frozen or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/numbers.h"
#include "net.h"

#include <activations.h>
#include <math.h>
#include <network.h>
#include <stdlib.h>

/* ---- activations ---- */

/* The functions below have the names of FORKS_ACTIVATIONS. */
struct curve {
    ACTIVATION activation;
    double (*value)(double x);
    int takes_input;
};

static double mish(double x)
{
    return x * tanh(log1p(exp(x)));
}

static double swish(double x)
{
    return x / (1 + exp(-x));
}

static double hard_mish(double x)
{
    return x > 0 ? x : x > -2 ? x * x / 2 + x : 0;
}

static double hardswish(double x)
{
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}

static double relu6(double x)
{
    return fmin(fmax(x, 0), 6);
}

#define CURVE(kind, name, takes_input) {kind, name, takes_input},
static const struct curve curves[] = {FORKS_ACTIVATIONS(CURVE)};

enum { CURVES = sizeof curves / sizeof *curves, LAST_ACTIVATION = SELU + CURVES, POINTS = 1003 };

/* From -25 to 25, and never on a kink. */
static float point(int i)
{
    return -25.013f + 0.05f * (float)i;
}

/* Many at once, as layers do it, and one alone. */
static void activations_take_the_values_of_their_curves(void **state)
{
    float x[POINTS], in[POINTS];
    layer l = {.outputs = POINTS, .batch = 1, .output = x};

    (void)state;
    for (int c = 0; c < CURVES; c++) {
        l.activation = curves[c].activation;
        l.activation_input = activation_needs_input(l.activation) ? in : NULL;
        for (int i = 0; i < POINTS; i++)
            x[i] = point(i);
        activate_layer(l);
        for (int i = 0; i < POINTS; i++) {
            double wanted = curves[c].value((double)point(i));

            if (fabs((double)x[i] - wanted) > 2e-6 * (1e-3 + fabs(wanted)))
                fail_msg("%s(%g) = %.9g and not %.9g", get_activation_string(l.activation),
                         (double)point(i), (double)x[i], wanted);
            assert_at_most(fabsf(activate(point(i), l.activation) - x[i]),
                           1e-6f * (1 + fabsf(x[i])));
        }
    }
}

/* Layers that keep no input give the gradient the value; those with BatchNorm on a GPU give it the
 * input. */
static void a_gradient_that_takes_no_input_is_the_same_of_input_and_value(void **state)
{
    (void)state;
    for (int c = 0; c < CURVES; c++)
        for (int i = 0; i < POINTS && !curves[c].takes_input; i++) {
            float x = point(i), y = activate(x, curves[c].activation);

            if (gradient(x, curves[c].activation) != gradient(y, curves[c].activation))
                fail_msg("the gradient of %s at %g depends on what it takes: its row wants 1",
                         get_activation_string(curves[c].activation), (double)x);
        }
}

/* Of what it is told to keep the input of, also where its gradient takes no input. */
static void an_activation_that_keeps_its_input_is_that_activation(void **state)
{
    float x[POINTS], in[POINTS];
    layer l = {.outputs = POINTS, .batch = 1, .output = x, .activation_input = in};

    (void)state;
    for (int a = LOGISTIC; a <= (int)LAST_ACTIVATION; a++) {
        l.activation = (ACTIVATION)a;
        for (int i = 0; i < POINTS; i++)
            x[i] = point(i);
        activate_layer(l);
        for (int i = 0; i < POINTS; i++) {
            float wanted = activate(point(i), l.activation);

            if (!(fabsf(x[i] - wanted) <= 1e-6f * (1 + fabsf(wanted))) || in[i] != point(i))
                fail_msg("%s(%g) = %.9g and not %.9g, and kept is %g",
                         get_activation_string(l.activation), (double)point(i), (double)x[i],
                         (double)wanted, (double)in[i]);
        }
    }
}

static void gradients_of_activations_are_the_slopes_of_their_curves(void **state)
{
    float x[POINTS], in[POINTS], delta[POINTS];
    layer l = {.outputs = POINTS, .batch = 1, .output = x, .delta = delta};

    (void)state;
    for (int c = 0; c < CURVES; c++) {
        l.activation = curves[c].activation;
        l.activation_input = activation_needs_input(l.activation) ? in : NULL;
        for (int i = 0; i < POINTS; i++) {
            x[i] = point(i);
            delta[i] = 3;
        }
        activate_layer(l);
        gradient_layer(l);
        for (int i = 0; i < POINTS; i++) {
            double at = (double)point(i), step = 1e-5;
            double slope = (curves[c].value(at + step) - curves[c].value(at - step)) / (2 * step);

            if (fabs((double)delta[i] - 3 * slope) > 1e-5)
                fail_msg("the gradient of %s at %g is %.9g and not %.9g",
                         get_activation_string(l.activation), at, (double)delta[i] / 3, slope);
        }
    }
}

static void names_of_activations_lead_back_to_them(void **state)
{
    ACTIVATION a;

    (void)state;
    for (int i = LOGISTIC; i <= (int)LAST_ACTIVATION; i++) {
        assert_true(find_activation(get_activation_string((ACTIVATION)i), &a));
        assert_int_equal(a, i);
    }
    assert_false(find_activation("mishmash", &a));
}

/* ---- layers, through a whole network ---- */

#define NET                                                                                        \
    "[net]\nbatch=2\nwidth=6\nheight=4\nchannels=3\nlearning_rate=0.1\nmomentum=0\ndecay=0\n"      \
    "weights_init=normal\n"
#define CONV(filters, more)                                                                        \
    "[convolutional]\nfilters=" #filters "\nsize=3\npad=1\nactivation=" more "\n"
#define LOSS "[cost]\ntype=sse\n"

struct chain {
    const char *name, *layers;
};

static const struct chain chains[] = {
    {"mish, swish", CONV(4, "mish") CONV(4, "swish") CONV(2, "hardswish") CONV(2, "hard_mish")},
    {"[activation] after a layer of two readers",
     CONV(4, "linear") "[activation]\nactivation=mish\n" CONV(
         4, "linear") "[shortcut]\nfrom=-3\nactivation=swish\n[shortcut]\nfrom=-4\nactivation="
                      "linear\n"},
    {"[connected]",
     "[connected]\noutput=10\nactivation=mish\n[connected]\noutput=4\nactivation=swish\n"},
    {"groups of [route]",
     CONV(4, "mish")
         CONV(8, "linear") "[route]\nlayers=-1,-2\ngroups=2\ngroup_id=1\n" CONV(2, "linear")},
    {"[scale_channels]",
     CONV(4, "mish") "[avgpool]\n[convolutional]\nfilters=4\nsize=1\nactivation=logistic\n"
                     "[scale_channels]\nfrom=-3\nactivation=linear\n" CONV(2, "linear")},
    {"[scale_channels] of cells",
     CONV(4, "mish")
         CONV(1, "logistic") "[scale_channels]\nfrom=-2\nscale_wh=1\n" CONV(2, "linear")},
    {"[sam], whose layer is read again",
     CONV(4, "mish")
         CONV(4, "logistic") "[sam]\nfrom=-2\n[route]\nlayers=-1,-3\n" CONV(2, "linear")},
    {"[shortcut] of two, one with fewer channels",
     CONV(4, "mish") CONV(2, "swish")
         CONV(4, "linear") "[shortcut]\nfrom=-2,-3\nactivation=mish\n"},
    {"weighted [shortcut], a weight a layer",
     CONV(4, "mish") CONV(4, "swish")
         CONV(4, "linear") "[shortcut]\nfrom=-2,-3\nweights_type=per_feature\nactivation=linear\n"},
    {"weighted [shortcut], a weight a channel",
     CONV(4, "mish")
         CONV(4, "linear") "[shortcut]\nfrom=-2\nweights_type=per_channel\nactivation=mish\n"},
    {"[implicit]", CONV(4, "mish") "[avgpool]\n[implicit]\nfilters=4\nstd=0.5\n[sam]\nfrom=-2\n"},
    {"dilation", CONV(4, "mish\ndilation=2") CONV(2, "linear\ndilation=3\nsize=2")},
    {"two strides",
     CONV(4, "mish\nstride_x=2\nstride_y=1") CONV(2, "linear\nstride_x=1\nstride_y=3")},
    {"shared weights", CONV(3, "mish\nstride=1") "[convolutional]\nfilters=3\nsize=3\npad="
                                                 "1\nactivation=swish\nshare_index=-1\n"
                                                 "[convolutional]\nfilters=3\nsize=3\npad="
                                                 "1\nactivation=linear\nshare_index=-1\n"},
    {"[maxpool] over channels",
     CONV(6, "mish") "[maxpool]\nmaxpool_depth=1\nout_channels=2\n" CONV(2, "linear")},
    {"[maxpool] of two strides",
     CONV(4, "mish") "[maxpool]\nsize=2\nstride_x=2\nstride_y=1\n" CONV(2, "linear")},
};

enum { CHAINS = sizeof chains / sizeof *chains };

static float pseudo(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (float)(*seed >> 8) / 8388608 - 1;
}

static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = pseudo(&seed);
}

static network *parse_chain(const char *net, const char *layers)
{
    char cfg[4096];
    network *n;

    (void)snprintf(cfg, sizeof cfg, "%s%s%s", net, layers, LOSS);
    srand(11);
    n = net_parse(cfg);
    fill(n->input, (size_t)n->inputs * (size_t)n->batch, 1);
    fill(n->truth, (size_t)n->truths * (size_t)n->batch, 2);
    n->train = 1;
    return n;
}

/* Summed in double precision, from what the last layer before [cost] puts out. */
static double loss_of(network *n)
{
    const layer *l = &n->layers[n->n - 2];
    double sum = 0;

    forward_network(n);
    for (int i = 0; i < l->outputs * l->batch; i++) {
        double d = (double)n->truth[i] - (double)l->output[i];

        sum += d * d / 2;
    }
    return sum;
}

/* Updates are steps downhill. Where windows overlap, the largest of one changes here and there
 * within the step. */
static void check_array(network *n, const struct chain *chain, int layer_index, const char *part,
                        float *w, const float *updates, int count)
{
    int kinks = strstr(chain->layers, "[maxpool]") != NULL;
    double tolerance = kinks ? 0.03 : 2e-3;

    for (int i = 0; i < count; i++) {
        float at = w[i], step = kinks ? 1.0f / 2048 : 1.0f / 128;
        double high, low, slope;

        w[i] = at + step;
        high = loss_of(n);
        w[i] = at - step;
        low = loss_of(n);
        w[i] = at;
        slope = -(high - low) / (2 * (double)step);
        if (fabs((double)updates[i] - slope) > tolerance * (1 + fabs(slope)))
            fail_msg("%s: layer %d, %s %d: gradient %.6g, difference quotient %.6g", chain->name,
                     layer_index, part, i, (double)updates[i], slope);
    }
}

static void gradients_are_difference_quotients(void **state)
{
    (void)state;
    for (int c = 0; c < CHAINS; c++) {
        network *n = parse_chain(NET, chains[c].layers);

        forward_network(n);
        backward_network(n);
        for (int i = 0; i < n->n; i++) {
            layer *l = &n->layers[i];

            if (l->share_layer)
                continue;
            if (l->weights)
                check_array(n, &chains[c], i, "weight", l->weights, l->weight_updates,
                            l->type == CONNECTED ? l->inputs * l->outputs : l->nweights);
            if (l->biases)
                check_array(n, &chains[c], i, "bias", l->biases, l->bias_updates,
                            l->type == CONNECTED ? l->outputs : l->n);
        }
        free_network(n);
    }
}

static void every_type_of_the_forks_has_a_chain(void **state)
{
    static const char *const titles[] = {
#define FORKS_LAYER(type, name, reads, keys) "[" #name "]",
#include "layers/forks_layers.def"
    };

    (void)state;
    for (size_t t = 0; t < sizeof titles / sizeof *titles; t++) {
        int c = 0;

        while (c < CHAINS && !strstr(chains[c].layers, titles[t]))
            c++;
        if (c == CHAINS)
            fail_msg("%s of layers/forks_layers.def is in no row of chains", titles[t]);
    }
}

/* The channels of both inputs' second half, as they lie. */
static void groups_of_route_are_slices(void **state)
{
    network *n = parse_chain(
        NET, CONV(4, "mish") CONV(8, "linear") "[route]\nlayers=-1,-2\ngroups=4\ngroup_id=2\n");
    const layer *small = &n->layers[0], *large = &n->layers[1], *route = &n->layers[2];
    int cells = 24;

    (void)state;
    assert_int_equal(route->out_c, 3);
    assert_int_equal(route->outputs, 3 * cells);
    forward_network(n);
    for (int b = 0; b < 2; b++) {
        assert_memory_equal(route->output + b * 3 * cells, large->output + (b * 8 + 4) * cells,
                            sizeof(float) * 2 * (size_t)cells);
        assert_memory_equal(route->output + (b * 3 + 2) * cells,
                            small->output + (b * 4 + 2) * cells, sizeof(float) * (size_t)cells);
    }
    resize_network(n, 10, 8);
    assert_int_equal(n->layers[2].out_c, 3);
    assert_int_equal(n->layers[2].outputs, 3 * 80);
    free_network(n);
}

/* All weights of a source together are 1 where they are normalized, so that what is added up keeps
 * its size. */
static void normalized_weights_come_to_one(void **state)
{
    static const char *const kinds[] = {"relu", "softmax"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        char layers[512];
        network *n;
        const layer *l;

        (void)snprintf(layers, sizeof layers,
                       CONV(4, "mish") CONV(4, "linear") "[shortcut]\nfrom=-2\nweights_type=per_"
                                                         "channel\nweights_normalization=%s\n",
                       kinds[k]);
        n = parse_chain(NET, layers);
        l = &n->layers[2];
        assert_int_equal(l->nweights, 8);
        fill(l->weights, 8, 5);
        forward_network(n);
        for (int c = 0; c < 4; c++) {
            float sum = l->blend[c] + l->blend[4 + c];

            /* relu: if both are below 0, nothing is left */
            assert_true(fabsf(sum - 1) < 1e-3f
                        || (k == 0 && l->weights[c] <= 0 && l->weights[4 + c] <= 0 && sum == 0));
        }
        free_network(n);
    }
}

/* Squeeze and excitation in the middle: what stands behind [avgpool] has its new size. */
static void networks_with_scaled_channels_change_their_size(void **state)
{
    network *n = parse_chain(
        NET, CONV(4, "mish") "[avgpool]\n[convolutional]\nfilters=4\nsize=1\nactivation=logistic\n"
                             "[scale_channels]\nfrom=-3\nactivation=linear\n" CONV(2, "linear"));

    (void)state;
    resize_network(n, 12, 10);
    assert_int_equal(n->layers[1].out_w, 1);
    assert_int_equal(n->layers[3].outputs, 4 * 120);
    assert_int_equal(n->layers[4].outputs, 2 * 120);
    fill(n->input, (size_t)n->inputs * (size_t)n->batch, 1);
    forward_network(n);
    backward_network(n);
    free_network(n);
}

/* ---- stopbackward=N ---- */

static void train_batch(network *n)
{
    fill(n->input, (size_t)n->inputs * (size_t)n->batch, 1);
    fill(n->truth, (size_t)n->truths * (size_t)n->batch, 2);
    (void)train_network_datum(n);
}

/* Decay, which moves every weight that is updated, is on. */
static void layers_are_left_alone_until_their_batch(void **state)
{
    network *n = parse_chain(
        "[net]\nbatch=2\nsubdivisions=2\nwidth=6\nheight=4\nchannels=3\nlearning_rate=0.1\n",
        CONV(4, "mish") CONV(2, "mish\nstopbackward=3") CONV(2, "linear"));
    float before[3];

    (void)state;
    for (int batch = 0; batch < 5; batch++) {
        for (int i = 0; i < 3; i++)
            before[i] = n->layers[i].weights[0];
        train_batch(n);
        train_batch(n);
        for (int i = 0; i < 3; i++)
            assert_int_equal(n->layers[i].weights[0] != before[i], i == 2 || batch >= 3);
    }
    free_network(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_take_the_values_of_their_curves),
        cmocka_unit_test(a_gradient_that_takes_no_input_is_the_same_of_input_and_value),
        cmocka_unit_test(an_activation_that_keeps_its_input_is_that_activation),
        cmocka_unit_test(gradients_of_activations_are_the_slopes_of_their_curves),
        cmocka_unit_test(names_of_activations_lead_back_to_them),
        cmocka_unit_test(every_type_of_the_forks_has_a_chain),
        cmocka_unit_test(gradients_are_difference_quotients),
        cmocka_unit_test(groups_of_route_are_slices),
        cmocka_unit_test(normalized_weights_come_to_one),
        cmocka_unit_test(networks_with_scaled_channels_change_their_size),
        cmocka_unit_test(layers_are_left_alone_until_their_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
