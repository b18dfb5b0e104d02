/* ddp-test: quick */
/* The rules of training that came with the forks: the average of weights (ema_alpha) and cycles of
 * the learning rate (policy=sgdr). */
#include <darknet.h>
#include <layers/ema.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../unit/numbers.h"
#include "net.h"

#define PI 3.14159265358979323846

static network *parse(const char *keys)
{
    char cfg[512];

    (void)snprintf(cfg, sizeof cfg,
                   "[net]\nbatch=1\nheight=4\nwidth=4\nchannels=1\n%s\n"
                   "[convolutional]\nbatch_normalize=1\nfilters=1\nsize=1\nactivation=linear\n"
                   "[cost]\n",
                   keys);
    return net_parse(cfg);
}

/* Return the weight that the test gives the network to learn. */
static float weight_at(int batch)
{
    return (float)sin(batch);
}

/* All parameters of the network are those of this batch. */
static void train_to(network *net, int batch)
{
    layer *l = &net->layers[0];

    *net->seen = (size_t)batch;
    l->weights[0] = weight_at(batch);
    l->biases[0] = 2 * weight_at(batch);
    l->scales[0] = 3 * weight_at(batch);
    average_weights(net);
}

static void is_average(network *net, double average)
{
    layer *l = &net->layers[0];

    assert_near((double)l->weight_average[0], average, 1e-6);
    assert_near((double)l->bias_average[0], 2 * average, 2e-6);
    assert_near((double)l->scale_average[0], 3 * average, 3e-6);
}

/* ---- tests ---- */

static void a_short_run_averages_its_second_half(void **state)
{
    network *net = parse("max_batches=20\nema_alpha=.75");
    double average = 0;

    (void)state;
    for (int batch = 1; batch <= 20; batch++) {
        if (batch == 10)
            average = (double)weight_at(batch);
        else if (batch > 10)
            average = 0.75 * average + 0.25 * (double)weight_at(batch);
        train_to(net, batch);
        is_average(net, average);
        assert_number_equal(net->layers[0].weights[0], weight_at(batch));
    }
    free_network(net);
}

/* From batch 1200 on, every third one, and at 1400 the weights become the average. */
static void a_long_run_goes_on_from_the_average(void **state)
{
    network *net = parse("max_batches=2400\nema_alpha=.984375");
    double average = 0;

    (void)state;
    for (int batch = 1; batch <= 1500; batch++) {
        if (batch == 1200)
            average = (double)weight_at(batch);
        else if (batch > 1200 && batch < 1400 && batch % 3 == 0)
            average = 0.984375 * average + 0.015625 * (double)weight_at(batch);
        train_to(net, batch);
        if (batch == 1200 || batch == 1203 || batch > 1390)
            is_average(net, average);
        if (batch == 1400)
            assert_near((double)net->layers[0].weights[0], average, 1e-6);
        else
            assert_number_equal(net->layers[0].weights[0], weight_at(batch));
    }
    free_network(net);
}

static void without_the_key_there_is_no_average(void **state)
{
    network *net = parse("max_batches=20");

    (void)state;
    train_to(net, 15);
    assert_null(net->layers[0].weight_average);
    free_network(net);
}

static void near_rate(network *net, int batch, double rate)
{
    *net->seen = (size_t)batch;
    if (fabs((double)get_current_rate(net) - rate) > 1e-7)
        fail_msg("batch %d: rate %g, and should be %g", batch, (double)get_current_rate(net), rate);
}

static void sgdr_falls_along_cosines(void **state)
{
    network *net = parse("max_batches=700\nlearning_rate=.1\nlearning_rate_min=.001\npolicy=sgdr\n"
                         "sgdr_cycle=100\nsgdr_mult=2\nburn_in=10\npower=1");

    (void)state;
    near_rate(net, 5, 0.05);
    near_rate(net, 50, 0.001 + 0.099 / 2);
    near_rate(net, 100, 0.001);
    near_rate(net, 101, 0.001 + 0.099 * (1 + cos(PI / 200)) / 2);
    near_rate(net, 200, 0.001 + 0.099 / 2);
    near_rate(net, 300, 0.001);
    near_rate(net, 500, 0.001 + 0.099 / 2);
    free_network(net);
}

static void one_cycle_is_the_run_by_default(void **state)
{
    network *net = parse("max_batches=40\nlearning_rate=.1\npolicy=sgdr");

    (void)state;
    near_rate(net, 0, 0.1);
    near_rate(net, 20, 0.00001 + (0.1 - 0.00001) / 2);
    near_rate(net, 40, 0.00001);
    free_network(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_run_averages_its_second_half),
        cmocka_unit_test(a_long_run_goes_on_from_the_average),
        cmocka_unit_test(without_the_key_there_is_no_average),
        cmocka_unit_test(sgdr_falls_along_cosines),
        cmocka_unit_test(one_cycle_is_the_run_by_default),
    };

    gpu_index = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
