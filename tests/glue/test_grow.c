/* ddp-test: quick */
/* Each array of a layer that depends on the picture's size grows with it, as random=1 needs: from
 * small to large it has room for what a network that begins with the large size has, and networks
 * of each kind of layer learn at both sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net.h"

#include "layers/catch_fatal.h"
#include "layers/cfg_keys.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

enum {
    SMALL = 32,
    LARGE = 96,
    ROUNDING = 8192
}; /* bytes by which two blocks of one size may differ */

#define PLACES "[convolutional]\nfilters=7\nsize=1\nactivation=linear\n"
#define YOLO PLACES "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\nrandom=1\n"

#define CONVOLUTION "[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\n"

static const char *const bodies[] = {
    CONVOLUTION "activation=leaky\nbatch_normalize=1\nxnor=1\n",
    CONVOLUTION "activation=leaky\nxnor=1\n",
    CONVOLUTION "activation=leaky\nbinary=1\n",
    CONVOLUTION "activation=leaky\ngroups=1\nbatch_normalize=1\n",
    CONVOLUTION "activation=mish\nbatch_normalize=1\n",
    CONVOLUTION "activation=swish\ndilation=2\n",
    CONVOLUTION "activation=leaky\n[maxpool]\nsize=2\nstride=2\n[upsample]\nstride=2\n",
    CONVOLUTION "activation=leaky\n[reorg]\nstride=2\n",
    CONVOLUTION "activation=leaky\n[normalization]\nsize=3\nalpha=.1\nbeta=.7\nkappa=1\n",
    CONVOLUTION "activation=leaky\n[dropout]\nprobability=.3\n",
    CONVOLUTION "activation=linear\n[batchnorm]\n[activation]\nactivation=leaky\n",
    CONVOLUTION "activation=linear\n[activation]\nactivation=mish\n[l2norm]\n",
    CONVOLUTION "activation=leaky\n[deconvolutional]\nfilters=4\nsize=2\nstride=2\n"
                "activation=leaky\nbatch_normalize=1\n",
    CONVOLUTION "activation=leaky\n" CONVOLUTION
                "activation=leaky\n[shortcut]\nfrom=-2\nactivation=mish\n"
                "[route]\nlayers=-1,-2\n[route]\nlayers=-1\ngroups=2\ngroup_id=1\n",
    CONVOLUTION
    "activation=leaky\n[avgpool]\n[convolutional]\nfilters=4\nsize=1\nstride=1\n"
    "activation=logistic\n[scale_channels]\nfrom=-3\n[convolutional]\nfilters=4\nsize=1\nstride=1\n"
    "activation=logistic\n[sam]\nfrom=-2\n",
    CONVOLUTION "activation=leaky\n[avgpool]\n[implicit]\nfilters=4\n[scale_channels]\nfrom=-3\n",
    CONVOLUTION "activation=leaky\n" PLACES "[region]\nanchors=1,1\nclasses=2\nnum=1\nrandom=1\n",
    CONVOLUTION "activation=leaky\n" PLACES "[cost]\ntype=sse\n",
    CONVOLUTION "activation=leaky\n" PLACES "[logistic]\n",
};

/* Layers that take inputs of one size alone. */
static const char *const fixed[] = {
    "[connected]\noutput=8\nactivation=leaky\n",
    "[local]\nfilters=2\nsize=3\nstride=1\nactivation=leaky\n",
    "[softmax]\n",
};

/* Sections of which no network here has one: [crop] has a size of its own, and the others stand in
 * networks that never change their size. */
static const char elsewhere[] = "[net] [network] [crop] [rnn] [crnn] [gru] [lstm] [detection] "
                                "[iseg]";

static int has_head(const char *body)
{
    return strstr(body, "[region]") || strstr(body, "[cost]") || strstr(body, "[logistic]");
}

static network *parse(const char *body, int side)
{
    char cfg[2048];

    (void)snprintf(cfg, sizeof cfg,
                   "[net]\nwidth=%d\nheight=%d\nchannels=3\nbatch=2\nsubdivisions=1\n%s%s", side,
                   side, body, has_head(body) ? "" : YOLO);
    /* The same first weights, of each size: of numbers in pairs, so each layer has an even count.
     */
    srand(1);
    return net_parse(cfg);
}

static void learn(network *net)
{
    srand(7); /* what [dropout] leaves out */
    for (int i = 0; i < net->inputs * net->batch; i++)
        net->input[i] = (float)(i % 13) / 13;
    net->truth[0] = net->truth[1] = net->truth[2] = net->truth[3] = .5F;
    net->train = 1;
    forward_network(net);
    backward_network(net);
    assert_true(isfinite(*net->cost));
}

static void check_room(const char *body, int layer, const char *name, void *grown, void *made)
{
    if (made && (!grown || malloc_usable_size(grown) + ROUNDING < malloc_usable_size(made)))
        fail_msg("layer %d of\n%s: %s has %zu bytes, %zu are needed", layer, body, name,
                 malloc_usable_size(grown), malloc_usable_size(made));
}

#define CHECK(name) check_room(body, i, #name, grown->layers[i].name, made->layers[i].name)

static void check_body(const char *body)
{
    network *grown = parse(body, SMALL), *made = parse(body, LARGE);

    learn(grown);
    (void)resize_network(grown, LARGE, LARGE);
    for (int i = 0; i < grown->n; i++) {
        assert_int_equal(grown->layers[i].outputs, made->layers[i].outputs);
        CHECK(output);
        CHECK(delta);
        CHECK(x);
        CHECK(indexes);
        CHECK(rand);
        CHECK(squared);
        CHECK(norms);
        CHECK(scales);
        CHECK(activation_input);
        CHECK(binary_input);
        CHECK(loss);
    }
    learn(grown);
    learn(made);
    for (int i = 0; i < made->outputs * made->batch; i++)
        if (grown->output[i] != made->output[i])
            fail_msg("%s: output %d is %g, %g of a network of that size", body, i,
                     (double)grown->output[i], (double)made->output[i]);
    (void)resize_network(grown, SMALL, SMALL);
    learn(grown);
    free_network(made);
    free_network(grown);
}

static void arrays_grow_with_the_picture(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        check_body(bodies[i]);
}

static void grow_to_large(void *net)
{
    (void)resize_network(net, LARGE, LARGE);
}

static void layers_of_one_size_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        char body[256], why[128] = "";

        (void)snprintf(body, sizeof body, CONVOLUTION "activation=leaky\n%s[cost]\n", fixed[i]);
        assert_int_equal(catch_fatal(grow_to_large, parse(body, SMALL), why, sizeof why), 0);
        assert_string_equal(why, "Cannot resize this type of layer");
    }
}

static int is_tried(const char *name)
{
    int found = strstr(elsewhere, name) || strstr(YOLO, name);

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        found |= strstr(bodies[i], name) != NULL;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        found |= strstr(fixed[i], name) != NULL;
    return found;
}

/* A section's names are together, as "[connected] [conn]"; its first one is looked for. */
static void each_section_has_a_network_here(void **state)
{
    char name[32], list[2048];
    int type = -1;

    (void)state;
    (void)snprintf(list, sizeof list, "%s", cfg_sections());
    for (char *at = strtok(list, ", "); at; at = strtok(NULL, ", ")) {
        (void)snprintf(name, sizeof name, "%s", at);
        if ((int)cfg_find_section(name)->type != type && !is_tried(name))
            fail_msg("no network here has a %s", name);
        type = (int)cfg_find_section(name)->type;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_grow_with_the_picture),
                                       cmocka_unit_test(layers_of_one_size_are_refused),
                                       cmocka_unit_test(each_section_has_a_network_here)};

    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
