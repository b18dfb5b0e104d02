/* ddp-test: quick */
/* Predicted steps of networks so simple that their times can be told by hand. */
#include "bench/forecast.h"
#include "numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>
#include <math.h>

enum { LAYERS = 3, MILLION = 1000000 };

/* A bucket a layer, of a million values each; the last layer's comes first. */
static ddp_bucket buckets[LAYERS] = {{.count = MILLION, .first_layer = 2, .last_layer = 2},
                                     {.count = MILLION, .first_layer = 1, .last_layer = 1},
                                     {.count = MILLION, .first_layer = 0, .last_layer = 0}};
static const ddp_bucket_plan plan = {
    .count = LAYERS * MILLION, .bucket_count = LAYERS, .buckets = buckets};

/* Of a GPU: a step of 3 s, half a second of it updates. */
static ddp_layer_times times[LAYERS] = {
    {.25, .25, .25, .125}, {.25, .25, .25, .125}, {.5, .25, .25, .25}};
static const ddp_layer_profile gpu = {.layers = LAYERS, .on_gpu = 1, .images = 4, .times = times};

/* A bucket takes `wire_s` between two hosts: 4 MB each way. */
static ddp_forecast_config config(double wire_s)
{
    return (ddp_forecast_config){.profile = &gpu,
                                 .plan = &plan,
                                 .order = {.sums = LAYERS},
                                 .overlap = 1,
                                 .mini_batches = 1,
                                 .scale = 1,
                                 .ranks = 2,
                                 .hosts = 2,
                                 .bytes_s = 4e6 / wire_s / .95,
                                 .value_bytes = 4};
}

static double step_of(const ddp_forecast_config *c, double *local)
{
    ddp_forecast p;
    ddp_error err;

    assert_int_equal(ddp_forecast_step(&p, c, &err), DDP_OK);
    *local = p.local;
    return p.step;
}

static void expect(const ddp_forecast_config *c, double local, double step)
{
    double found_local, found = step_of(c, &found_local);

    assert_near(found_local, local, 1e-6);
    if (fabs(found - step) > 2e-3) /* with latencies */
        fail_msg("a step takes %.4f s, not %.4f", found, step);
}

static void one_rank_waits_for_nobody(void **state)
{
    ddp_forecast_config c = config(1);

    (void)state;
    c.ranks = c.hosts = 1;
    expect(&c, 3, 3);
}

static void without_overlap_it_adds_up(void **state)
{
    ddp_forecast_config c = config(.5);

    (void)state;
    c.overlap = 0;
    /* Backward ends at 2.5 s. Layer 2's bucket comes at 3, layer 1's at 3.5, and layer 0's at 4,
     * after which its update takes .125. */
    expect(&c, 3, 4.125);
}

static void sums_hide_behind_backward(void **state)
{
    ddp_forecast_config c = config(.25);

    (void)state;
    /* Layer 0's gradients are final at 2.25 s, its sum is there at 2.5, when backward ends. */
    expect(&c, 3, 3);
    c = config(.5);
    /* Launched at 1.25, 1.75, 2.25; there at 1.75, 2.25, 2.75: the last one is still on its way
     * while layers 2 and 1 are updated, until 2.875. */
    expect(&c, 3, 3);
    c = config(1);
    /* There at 2.25, 3.25 and 4.25. */
    expect(&c, 3, 4.375);
}

static void deferred_sums_hide_behind_the_next_forward_pass(void **state)
{
    ddp_forecast_config c = config(1);

    (void)state;
    c.order.deferred = 1; /* layer 2 */
    /* Layers 1 and 0 are launched at 1.75 and 2.25, there at 2.75 and 3.75; updated by 3.875.
     * Layer 2's is there at 4.75; the next step needs it .5 after it began: at 4.375. So each step
     * updates layer 2 there, and waits for .375 s, which the next sums are late by. */
    expect(&c, 3, 3.875 + .25 + .375);
}

/* 16 layers, a second forward, a second backward and an update of .16 s in all, with a quarter of a
 * million values each: of 4 million the line carries some in backward, and the forward pass can
 * begin when it has those of layer 0. */
enum { MANY = 16 };

static void priority_has_the_first_layers_first(void **state)
{
    ddp_bucket small[MANY];
    ddp_layer_times even[MANY];
    const ddp_bucket_plan fine = {.count = 4 * MILLION, .bucket_count = MANY, .buckets = small};
    const ddp_layer_profile many = {.layers = MANY, .on_gpu = 1, .images = 4, .times = even};
    ddp_forecast_config with = config(1), without;
    double local, gain;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        small[i] = (ddp_bucket){
            .count = MILLION / 4, .first_layer = MANY - 1 - i, .last_layer = MANY - 1 - i};
        even[i] = (ddp_layer_times){1. / MANY, .5 / MANY, .5 / MANY, .01};
    }
    with.plan = &fine;
    with.profile = &many;
    with.order.sums = MANY;
    without = with;
    with.priority = 1;
    for (int quarters = 1; quarters <= 12; quarters++) {
        with.bytes_s = without.bytes_s = 16e6 / .95 * 4 / quarters;
        gain = step_of(&without, &local) / step_of(&with, &local) - 1;
        if (gain < -1e-9 || (quarters > 5 && gain < .05))
            fail_msg("%g s of messages: a gain of %g", quarters / 4., gain);
    }
    with.bytes_s = without.bytes_s = 1e12; /* there is nothing to put off */
    assert_near(step_of(&with, &local), step_of(&without, &local), 1e-9);
}

static void more_mini_batches_communicate_once(void **state)
{
    ddp_forecast_config c = config(1);

    (void)state;
    c.mini_batches = 3;
    expect(&c, 3 * 2.5 + .5, 3 * 2.5 + .5 + 1.375);
}

static void smaller_mini_batches_compute_less(void **state)
{
    ddp_forecast_config c = config(.01);

    (void)state;
    c.scale = .5;
    expect(&c, 1.25 + .5, 1.25 + .5);
}

static void half_the_bytes_take_half_the_time(void **state)
{
    ddp_forecast_config c = config(1);

    (void)state;
    c.overlap = 0;
    c.value_bytes = 2;
    expect(&c, 3, 4.125); /* as with .5 above */
}

static void a_cpu_computes_less_while_messages_move(void **state)
{
    ddp_layer_profile cpu = gpu;
    ddp_forecast_config c = config(.25);
    ddp_forecast p;
    ddp_error err;

    (void)state;
    cpu.on_gpu = 0;
    c.profile = &cpu;
    assert_int_equal(ddp_forecast_step(&p, &c, &err), DDP_OK);
    assert_greater(p.cpu, 0);
    assert_greater(p.step, p.local + .5 * p.cpu);
    assert_less(p.step, p.local + 1.5 * p.cpu + .25);
}

/* Within a host messages are work of the CPU's alone, which then computes nothing. */
static void a_layer_that_takes_no_time_takes_none(void **state)
{
    ddp_layer_times some[LAYERS], none[LAYERS];
    ddp_layer_profile with = gpu, without = gpu;
    ddp_forecast_config c = config(.25);
    double local, found;

    (void)state;
    for (int layer = 0; layer < LAYERS; layer++)
        some[layer] = none[layer] = times[layer];
    some[1].update = 1e-9;
    none[1].update = 0;
    with.on_gpu = without.on_gpu = 0;
    with.times = some;
    without.times = none;
    c.hosts = 1;
    c.value_bytes = 1e-9;
    c.order.deferred = 1;
    c.profile = &with;
    found = step_of(&c, &local);
    c.profile = &without;
    assert_near(step_of(&c, &local), found, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_waits_for_nobody),
        cmocka_unit_test(without_overlap_it_adds_up),
        cmocka_unit_test(sums_hide_behind_backward),
        cmocka_unit_test(deferred_sums_hide_behind_the_next_forward_pass),
        cmocka_unit_test(priority_has_the_first_layers_first),
        cmocka_unit_test(more_mini_batches_communicate_once),
        cmocka_unit_test(smaller_mini_batches_compute_less),
        cmocka_unit_test(half_the_bytes_take_half_the_time),
        cmocka_unit_test(a_cpu_computes_less_while_messages_move),
        cmocka_unit_test(a_layer_that_takes_no_time_takes_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
