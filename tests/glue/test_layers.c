/* ddp-test: quick */
/* Single layers of Darknet, where a whole network's test would not tell. */
#include "../unit/numbers.h"
#include "base/random.h"
#include "samples/sampler.h"

#include <darknet.h>
/* Darknet's own, of no use without darknet.h. */
#include <crop_layer.h>
#include <maxpool_layer.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { SIDE = 8, CHANNELS = 3, IMAGES = 2, VALUES = SIDE * SIDE * CHANNELS, SAMPLES = 40 };

/* ---- [maxpool] ---- */

/* The delta that comes back to the input, between two guards. */
static void pool(float value, float *delta, size_t guard)
{
    static float input[IMAGES * VALUES];
    layer l = make_maxpool_layer(IMAGES, SIDE, SIDE, CHANNELS, 3, 2, 2, 2, 0);
    network net = {.input = input, .delta = delta + guard};

    for (size_t i = 0; i < IMAGES * VALUES; i++)
        input[i] = value;
    l.forward(l, net);
    for (int i = 0; i < l.outputs * l.batch; i++) {
        assert_in_range(l.indexes[i], 0, IMAGES * VALUES - 1);
        l.delta[i] = 1;
    }
    l.backward(l, net);
    free_layer(l);
}

static void a_window_without_a_greatest_value_has_an_index(void **state)
{
    enum { GUARD = 64 };
    const float values[] = {NAN, -INFINITY, INFINITY, 0};

    (void)state;
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        static float delta[IMAGES * VALUES + 2 * GUARD];
        double sum = 0;

        memset(delta, 0, sizeof delta);
        pool(values[v], delta, GUARD);
        for (size_t i = 0; i < GUARD; i++)
            assert_true(delta[i] == 0 && delta[GUARD + IMAGES * VALUES + i] == 0);
        for (size_t i = 0; i < IMAGES * VALUES; i++)
            sum += delta[GUARD + i];
        assert_number_equal(sum, IMAGES * CHANNELS * SIDE / 2 * SIDE / 2);
    }
}

/* ---- [crop] ---- */

/* The number that the GPU's kernel reads at this place of a sample's eight. */
static float number_of(size_t sample, int place)
{
    ddp_random r;
    uint32_t bits = 0;

    ddp_random_init(&r, 77, ddp_random_topic(DRAW_LAYER, 0), sample);
    for (int i = 0; i <= place; i++)
        bits = ddp_random_next(&r);
    return (float)(bits & 0x7fffffffU) / 2147483648.0F;
}

/* Row 0 of a crop, whose picture has its column's number in each pixel. */
static void crop(size_t sample, int width, float *row)
{
    static float input[VALUES];
    layer l = make_crop_layer(1, SIDE, SIDE, CHANNELS, width, width, 1, 0, 1, 1);
    network net = {.input = input, .train = 1, .sample = sample};

    for (int i = 0; i < VALUES; i++)
        input[i] = (float)(i % SIDE);
    l.noadjust = 1;
    l.forward(l, net);
    memcpy(row, l.output, (size_t)width * sizeof *row);
    free_layer(l);
}

static void a_crop_flips_by_the_number_that_a_gpu_flips_by(void **state)
{
    const train_plugin plugin = {.is_first = 1, .draw_for = ddp_draw_for, .draw = ddp_draw};
    int flipped = 0;

    (void)state;
    ddp_sampler_seed(77);
    train_plugin_active = &plugin;
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        float whole[SIDE], part[SIDE / 2];
        int flip = number_of(sample, 6) > .5F;
        int place = (int)(number_of(sample, 4) * (SIDE / 2 + 1));

        crop(sample, SIDE, whole);
        crop(sample, SIDE / 2, part);
        for (int i = 0; i < SIDE; i++)
            assert_number_equal(whole[i], (float)(flip ? SIDE - 1 - i : i));
        for (int i = 0; i < SIDE / 2; i++)
            assert_number_equal(part[i], (float)(flip ? SIDE - 1 - place - i : place + i));
        flipped += flip;
    }
    train_plugin_active = NULL;
    assert_in_range(flipped, SAMPLES / 4, SAMPLES * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_without_a_greatest_value_has_an_index),
        cmocka_unit_test(a_crop_flips_by_the_number_that_a_gpu_flips_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
