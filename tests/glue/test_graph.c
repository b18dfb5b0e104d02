/* ddp-test: quick */
/* layers/graph.h: who reads whom, of each type of layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/graph.h"

#include "net.h"

enum { MOST = 8 };

static const char head[] = "[net]\nbatch=2\nwidth=8\nheight=8\nchannels=4\n";

static network *parse(const char *layers)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "%s%s", head, layers);
    return net_parse(text);
}

/* The sources of layer i are `want`, which NO_SOURCE ends. */
static void expect_sources(const network *net, int i, const int want[MOST])
{
    for (int k = 0; k == 0 || want[k - 1] != NO_SOURCE; k++)
        if (layer_source(net, i, k) != want[k])
            fail_msg("layer %d: source %d is %d, not %d", i, k, layer_source(net, i, k), want[k]);
}

static void every_type_of_layer_has_a_row(void **state)
{
    (void)state;
    for (int type = 0; type < BLANK; type++)
        if (!layer_type_is_known((LAYER_TYPE)type))
            fail_msg("LAYER_TYPE %d has no row in layers/graph.c", type);
    assert_false(layer_type_is_known(BLANK));
}

#define CONVOLUTION "[convolutional]\nfilters=4\nsize=1\n"

static void a_layer_reads_the_one_before_it_and_those_that_it_names(void **state)
{
    network *net = parse(CONVOLUTION CONVOLUTION "[shortcut]\nfrom=0\n"
                                                 "[shortcut]\nfrom=0,-3\n"
                                                 "[route]\nlayers=2,0\n"
                                                 "[implicit]\nfilters=4\n"
                                                 "[route]\nlayers=3\n"
                                                 "[sam]\nfrom=1\n"
                                                 "[avgpool]\n"
                                                 "[scale_channels]\nfrom=7\n"
                                                 "[softmax]\n[cost]\ntype=sse\n");

    (void)state;
    expect_sources(net, 0, (int[MOST]){NETWORK_INPUT, NO_SOURCE});
    expect_sources(net, 1, (int[MOST]){0, NO_SOURCE});
    expect_sources(net, 2, (int[MOST]){1, 0, NO_SOURCE});
    expect_sources(net, 3, (int[MOST]){2, 0, 0, NO_SOURCE});
    expect_sources(net, 4, (int[MOST]){2, 0, NO_SOURCE});
    expect_sources(net, 5, (int[MOST]){NO_SOURCE});
    expect_sources(net, 6, (int[MOST]){3, NO_SOURCE});
    expect_sources(net, 7, (int[MOST]){6, 1, NO_SOURCE});
    expect_sources(net, 9, (int[MOST]){8, 7, NO_SOURCE});
    expect_sources(net, 11, (int[MOST]){10, NO_SOURCE});
    assert_int_equal(layer_reader(net, 0, 0), 1);
    assert_int_equal(layer_reader(net, 0, 1), 2);
    assert_int_equal(layer_reader(net, 4, 4), net->n); /* [implicit] reads nothing */
    assert_int_equal(layer_reader(net, 5, 5), net->n); /* nor does the [route] behind it read it */
    assert_int_equal(layer_reader(net, 11, 11), net->n);
    free_network(net);
}

/* Readers of layer 0 see layer 2, the last [dropout] that works on its memory. */
static void who_reads_behind_dropout_sees_what_it_has_left(void **state)
{
    network *net =
        parse(CONVOLUTION "[dropout]\nprobability=.5\n[dropout]\nprobability=.5\n" CONVOLUTION
                          "[shortcut]\nfrom=0\n[softmax]\n[cost]\ntype=sse\n");

    (void)state;
    assert_int_equal(layer_actual_source(net, 0, 1), 0);
    assert_int_equal(layer_actual_source(net, 0, 2), 1);
    assert_int_equal(layer_actual_source(net, 0, 4), 2);
    assert_int_equal(layer_actual_source(net, NETWORK_INPUT, 4), NETWORK_INPUT);
    assert_int_equal(layer_reader(net, 0, 0), 1);
    assert_int_equal(layer_reader(net, 0, 1), net->n);
    assert_int_equal(layer_reader(net, 2, 2), 3);
    assert_int_equal(layer_reader(net, 2, 3), 4);
    free_network(net);
}

static void weights_are_shared_by_both_layers(void **state)
{
    network *net = parse(CONVOLUTION "activation=linear\n" CONVOLUTION
                                     "activation=linear\nshare_index=0\n" CONVOLUTION
                                     "activation=linear\n[softmax]\n[cost]\ntype=sse\n");

    (void)state;
    assert_true(layer_is_shared(net, 0));
    assert_true(layer_is_shared(net, 1));
    assert_false(layer_is_shared(net, 2));
    free_network(net);
}

/* Of each layer that is parsed, the answer is whether it has a delta. */
static void only_crop_takes_no_gradient(void **state)
{
    network *net =
        parse("[crop]\ncrop_height=8\ncrop_width=8\n"
              "[dropout]\nprobability=.5\n" CONVOLUTION
              "[dropout]\nprobability=.5\n[maxpool]\nsize=2\nstride=2\n[route]\nlayers=-1\n"
              "[upsample]\n[reorg]\nstride=2\n[softmax]\n[cost]\ntype=sse\n");

    (void)state;
    for (int i = 0; i < net->n; i++)
        if (layer_takes_gradient(net, i) != (net->layers[i].delta != NULL))
            fail_msg("layer %d", i);
    assert_false(layer_takes_gradient(net, 0));
    assert_false(layer_takes_gradient(net, 1));
    free_network(net);
}

static void losses_and_recurrent_layers_do_not_pass_on(void **state)
{
    (void)state;
    assert_true(layer_type_passes_on(CONVOLUTIONAL));
    assert_true(layer_type_passes_on(DROPOUT));
    assert_false(layer_type_passes_on(YOLO));
    assert_false(layer_type_passes_on(RNN));
    assert_false(layer_type_passes_on(CROP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_layer_has_a_row),
        cmocka_unit_test(a_layer_reads_the_one_before_it_and_those_that_it_names),
        cmocka_unit_test(who_reads_behind_dropout_sees_what_it_has_left),
        cmocka_unit_test(weights_are_shared_by_both_layers),
        cmocka_unit_test(only_crop_takes_no_gradient),
        cmocka_unit_test(losses_and_recurrent_layers_do_not_pass_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
