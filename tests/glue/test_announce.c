/* ddp-test: quick */
/* Gradients that a layer announces are final: their sum over ranks may leave at once. */
#include "timing/hook_chain.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <network.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net.h"

enum { MOST_LAYERS = 8 };

static const char cfg[] =
    "[net]\nbatch=4\nsubdivisions=2\nwidth=8\nheight=8\nchannels=3\nlearning_rate=0.01\n"
    "max_batches=100\n"
    "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    "[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    "[batchnorm]\n"
    "[local]\nfilters=3\nsize=3\nstride=1\npad=1\nactivation=leaky\n"
    "[connected]\noutput=5\nactivation=linear\n[softmax]\n";

struct announced {
    ddp_hook_chain passing; /* to nobody */
    const network *net;
    float *weights[MOST_LAYERS], *biases[MOST_LAYERS]; /* copies of the gradients; NULL: none yet */
};

static size_t weights_of(const layer *l)
{
    switch (l->type) {
    case CONVOLUTIONAL:
        return (size_t)l->nweights;
    case LOCAL:
        return (size_t)(l->size * l->size * l->c * l->n * l->out_w * l->out_h);
    case CONNECTED:
        return (size_t)l->inputs * (size_t)l->outputs;
    default:
        return 0;
    }
}

static size_t biases_of(const layer *l)
{
    return l->type == LOCAL || l->type == CONNECTED ? (size_t)l->outputs
           : l->type == BATCHNORM                   ? (size_t)l->c
                                                    : (size_t)l->n;
}

static float *copy_of(const float *x, size_t count)
{
    float *copy = malloc((count + 1) * sizeof *copy);

    assert_non_null(copy);
    if (count > 0)
        memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static void on_gradient_ready(void *ctx, int layer_index)
{
    struct announced *a = ctx;
    const layer *l = &a->net->layers[layer_index];

    if (!l->update || a->weights[layer_index])
        return;
    a->weights[layer_index] = copy_of(l->weight_updates, weights_of(l));
    a->biases[layer_index] = copy_of(l->bias_updates, biases_of(l));
}

static void what_is_announced_does_not_change_any_more(void **state)
{
    struct announced a = {.passing = {NULL}};
    train_hooks hooks = ddp_hook_chain_hooks;
    network *net;

    (void)state;
    srand(1);
    net = net_parse(cfg);
    assert_true(net->n <= MOST_LAYERS);
    a.net = net;
    hooks.ctx = &a;
    hooks.gradient_ready = on_gradient_ready;
    net->hooks = &hooks;
    ddp_synthetic_fill(net, 1, 0);
    (void)train_network_datum(net); /* of two: no update */
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        if (!l->update)
            continue;
        if (!a.weights[i])
            fail_msg("layer %d (%s) announced nothing", i, get_layer_string(l->type));
        if (memcmp(a.weights[i], l->weight_updates, weights_of(l) * sizeof(float)) != 0
            || memcmp(a.biases[i], l->bias_updates, biases_of(l) * sizeof(float)) != 0)
            fail_msg("layer %d (%s) announced gradients that changed later", i,
                     get_layer_string(l->type));
        free(a.weights[i]);
        free(a.biases[i]);
    }
    net->hooks = NULL;
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_announced_does_not_change_any_more),
    };

    return cmocka_run_group_tests_name("announce", tests, NULL, NULL);
}
