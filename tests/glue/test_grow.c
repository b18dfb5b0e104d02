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

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

enum {
    SMALL = 32,
    LARGE = 96,
    ROUNDING = 8192
}; /* bytes by which two blocks of one size may differ */

#define HEAD                                                                                       \
    "[convolutional]\nfilters=7\nsize=1\nactivation=linear\n"                                      \
    "[yolo]\nmask=0\nanchors=12,12\nclasses=2\nnum=1\nrandom=1\n"

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
    CONVOLUTION "activation=leaky\n" CONVOLUTION
                "activation=leaky\n[shortcut]\nfrom=-2\nactivation=mish\n"
                "[route]\nlayers=-1,-2\n[route]\nlayers=-1\ngroups=2\ngroup_id=1\n",
    CONVOLUTION
    "activation=leaky\n[avgpool]\n[convolutional]\nfilters=4\nsize=1\nstride=1\n"
    "activation=logistic\n[scale_channels]\nfrom=-3\n[convolutional]\nfilters=4\nsize=1\nstride=1\n"
    "activation=logistic\n[sam]\nfrom=-2\n",
};

static network *parse(const char *body, int side)
{
    char cfg[2048];

    (void)snprintf(cfg, sizeof cfg,
                   "[net]\nwidth=%d\nheight=%d\nchannels=3\nbatch=2\nsubdivisions=1\n%s" HEAD, side,
                   side, body);
    srand(1); /* the same first weights, of each size */
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
        CHECK(x_norm);
        CHECK(indexes);
        CHECK(rand);
        CHECK(squared);
        CHECK(norms);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_grow_with_the_picture)};

    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
