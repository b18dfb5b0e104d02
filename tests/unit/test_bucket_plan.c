/* ddp-test: quick */
/* Bucket plans, against plans made by hand. A plan is written as one line:
 * "OFFSET+COUNT layers FIRST..LAST params N" a bucket. */
#include "core/bucket_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_PARAMS = 40 };

static const size_t unbounded = (size_t)1 << 30;

/* A table of parameters with these sizes; layers[i] is the layer of counts[i]. */
static ddp_param_table table_of(ddp_param *params, const int *layers, const size_t *counts,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        params[i] =
            (ddp_param){.layer = layers[i], .kind = "toy", .part = "weights", .count = counts[i]};
    return (ddp_param_table){
        .layer_count = n ? layers[n - 1] + 1 : 0, .param_count = n, .params = params};
}

static ddp_bucket_plan *plan_of(const ddp_param_table *table, size_t bucket_bytes,
                                size_t first_bucket_bytes)
{
    ddp_bucket_plan *plan;
    ddp_error err;

    if (ddp_bucket_plan_open(&plan, table, bucket_bytes, first_bucket_bytes, &err))
        fail_msg("%s", err.text);
    return plan;
}

static void expect_plan(const ddp_param_table *table, size_t bucket_bytes,
                        size_t first_bucket_bytes, const char *want)
{
    ddp_bucket_plan *plan = plan_of(table, bucket_bytes, first_bucket_bytes);
    char got[1024] = "";

    for (size_t b = 0; b < plan->bucket_count; b++) {
        const ddp_bucket *bucket = &plan->buckets[b];
        size_t at = strlen(got);

        (void)snprintf(got + at, sizeof got - at, "%s%zu+%zu layers %d..%d params %zu",
                       b ? ", " : "", bucket->offset, bucket->counts - bucket->offset,
                       bucket->first_layer, bucket->last_layer, bucket->param_count);
    }
    assert_string_equal(got, want);
    ddp_bucket_plan_close(plan);
}

/* 15 elements take 16, which are 64 bytes. So do up to 16 run counts behind them, which the
 * capacity does not count. */
static void bucket_closes_when_it_holds_exactly_its_capacity(void **state)
{
    static const int layers[] = {0, 1, 2, 3};
    static const size_t counts[] = {15, 15, 15, 15};
    ddp_param params[4];
    ddp_param_table table = table_of(params, layers, counts, 4);

    (void)state;
    expect_plan(&table, 128, 128, "0+32 layers 2..3 params 2, 48+32 layers 0..1 params 2");
    expect_plan(&table, 127, 127, "0+32 layers 2..3 params 2, 48+32 layers 0..1 params 2");
    expect_plan(&table, 129, 129, "0+48 layers 1..3 params 3, 64+16 layers 0..0 params 1");
}

static void parameter_above_the_capacity_is_not_cut(void **state)
{
    static const int layers[] = {0, 1, 2};
    static const size_t counts[] = {15, 1000, 15};
    ddp_param params[3];
    ddp_param_table table = table_of(params, layers, counts, 3);

    (void)state;
    expect_plan(&table, 128, 128, "0+1024 layers 1..2 params 2, 1040+16 layers 0..0 params 1");
    expect_plan(&table, 64, 64,
                "0+16 layers 2..2 params 1, 32+1008 layers 1..1 params 1, "
                "1056+16 layers 0..0 params 1");
}

static void first_bucket_has_a_capacity_of_its_own(void **state)
{
    static const int layers[] = {0, 1, 2, 3};
    static const size_t counts[] = {15, 15, 15, 15};
    ddp_param params[4];
    ddp_param_table table = table_of(params, layers, counts, 4);

    (void)state;
    expect_plan(&table, unbounded, 1, "0+16 layers 3..3 params 1, 32+48 layers 0..2 params 3");
    expect_plan(&table, 1, 129, "0+48 layers 1..3 params 3, 64+16 layers 0..0 params 1");
}

static void capacity_above_the_network_makes_one_bucket(void **state)
{
    static const int layers[] = {0, 0, 2, 5};
    static const size_t counts[] = {1, 16, 31, 32};
    ddp_param params[4];
    ddp_param_table table = table_of(params, layers, counts, 4);

    (void)state;
    expect_plan(&table, unbounded, unbounded, "0+96 layers 0..5 params 4");
}

static void capacity_of_one_byte_makes_a_bucket_of_each_parameter(void **state)
{
    static const int layers[] = {0, 0, 1};
    static const size_t counts[] = {1, 1, 1};
    ddp_param params[3];
    ddp_param_table table = table_of(params, layers, counts, 3);

    (void)state;
    expect_plan(&table, 1, 1,
                "0+16 layers 1..1 params 1, 32+16 layers 0..0 params 1, "
                "64+16 layers 0..0 params 1");
}

static void frozen_layers_are_in_no_bucket(void **state)
{
    static const int layers[] = {0, 1, 2, 3};
    static const size_t counts[] = {100, 100, 15, 15};
    ddp_param params[4];
    ddp_param_table table = table_of(params, layers, counts, 4);
    ddp_bucket_plan *plan;

    (void)state;
    table.first_trained = 2;
    expect_plan(&table, unbounded, unbounded, "0+32 layers 2..3 params 2");
    expect_plan(&table, 1, 1, "0+16 layers 3..3 params 1, 32+16 layers 2..2 params 1");
    plan = plan_of(&table, unbounded, unbounded);
    assert_int_equal(plan->count, 32 + 16);
    ddp_bucket_plan_close(plan);
}

static void table_without_parameters_makes_an_empty_plan(void **state)
{
    static const int layers[] = {0, 1};
    static const size_t counts[] = {15, 15};
    ddp_param params[2];
    ddp_param_table frozen = table_of(params, layers, counts, 2);
    ddp_param_table empty = {.layer_count = 3};
    ddp_bucket_plan *plan;

    (void)state;
    frozen.first_trained = 2;
    expect_plan(&frozen, 1, 1, "");
    expect_plan(&empty, 1, 1, "");
    plan = plan_of(&empty, 1, 1);
    assert_int_equal(plan->count, 0);
    ddp_bucket_plan_close(plan);
}

static void parameters_stand_in_reverse_order_each_at_its_place(void **state)
{
    static const int layers[] = {0, 0, 3};
    static const size_t counts[] = {16, 15, 5};
    static const ddp_place want[] = {{1, 48, 0}, {0, 16, 1}, {0, 0, 0}};
    ddp_param params[3];
    ddp_param_table table = table_of(params, layers, counts, 3);
    ddp_bucket_plan *plan = plan_of(&table, 128, 128);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(plan->places[i].bucket, want[i].bucket);
        assert_int_equal(plan->places[i].offset, want[i].offset);
        assert_int_equal(plan->places[i].nth, want[i].nth);
    }
    assert_int_equal(plan->buckets[0].counts, 32);
    assert_int_equal(plan->buckets[1].counts, 64);
    assert_int_equal(plan->count, 80);
    ddp_bucket_plan_close(plan);
}

static size_t aligned(size_t count)
{
    return (count + DDP_PLAN_ALIGN - 1) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;
}

/* The bucket ends behind `held` elements of gradients of so many parameters: its run counts. */
static size_t check_end(const ddp_bucket *bucket, size_t held, size_t params)
{
    assert_int_equal(bucket->param_count, params);
    assert_int_equal(bucket->counts, bucket->offset + held);
    assert_int_equal(bucket->count, held + aligned(params));
    return bucket->offset + bucket->count;
}

/* Walk the parameters as they must have been placed. */
static void check_places(const ddp_param_table *table, const ddp_bucket_plan *plan,
                         size_t bucket_bytes, size_t first_bucket_bytes)
{
    size_t end = 0, bucket = 0, nth = 0, held = 0; /* held: elements of the open bucket */

    for (size_t i = table->param_count; i-- > 0;) {
        const ddp_place *place = &plan->places[i];

        if (held * sizeof(float) >= (bucket == 0 ? first_bucket_bytes : bucket_bytes)) {
            end = check_end(&plan->buckets[bucket++], held, nth);
            held = nth = 0;
        }
        if (held == 0)
            assert_int_equal(plan->buckets[bucket].offset, end);
        assert_int_equal(place->bucket, bucket);
        assert_int_equal(place->offset, end);
        assert_int_equal(place->offset % DDP_PLAN_ALIGN, 0);
        assert_int_equal(place->nth, nth++);
        end += aligned(table->params[i].count);
        held += aligned(table->params[i].count);
    }
    assert_int_equal(plan->count, check_end(&plan->buckets[bucket], held, nth));
    assert_int_equal(plan->bucket_count, bucket + 1);
}

static void run_count_and_alignment_hold_for_any_table(void **state)
{
    static const size_t capacities[] = {1, 64, 100, 1000, 4096, 100000};
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 300; round++) {
        ddp_param params[MAX_PARAMS];
        int layers[MAX_PARAMS], layer = 0;
        size_t counts[MAX_PARAMS], n = 1 + (size_t)rand_r(&seed) % MAX_PARAMS;
        size_t capacity = capacities[rand_r(&seed) % 6], first = capacities[rand_r(&seed) % 6];
        ddp_param_table table;
        ddp_bucket_plan *plan;

        for (size_t i = 0; i < n; i++) {
            layer += rand_r(&seed) % 3;
            layers[i] = layer;
            counts[i] = 1 + (size_t)rand_r(&seed) % (rand_r(&seed) % 4 ? 40 : 4000);
        }
        table = table_of(params, layers, counts, n);
        plan = plan_of(&table, capacity, first);
        check_places(&table, plan, capacity, first);
        ddp_bucket_plan_close(plan);
    }
}

static void close_takes_null(void **state)
{
    (void)state;
    ddp_bucket_plan_close(NULL);
}

/* Each time the block changes; within one, and between those that are in none, as ever. */
static void layers_that_are_left_out_together_share_no_bucket_with_others(void **state)
{
    static const int layers[] = {0, 1, 2, 2, 3, 4, 5}, blocks[] = {0, 0, 1, 1, 2, 0};
    static const size_t counts[] = {16, 16, 16, 16, 16, 16, 16};
    ddp_param params[MAX_PARAMS];
    ddp_param_table table = table_of(params, layers, counts, 7);

    (void)state;
    table.block = blocks;
    expect_plan(&table, unbounded, unbounded,
                "0+16 layers 5..5 params 1, 32+16 layers 4..4 params 1, "
                "64+48 layers 2..3 params 3, 128+32 layers 0..1 params 2");
    expect_plan(&table, 128, 1,
                "0+16 layers 5..5 params 1, 32+16 layers 4..4 params 1, "
                "64+32 layers 2..3 params 2, 112+16 layers 2..2 params 1, "
                "144+32 layers 0..1 params 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bucket_closes_when_it_holds_exactly_its_capacity),
        cmocka_unit_test(parameter_above_the_capacity_is_not_cut),
        cmocka_unit_test(first_bucket_has_a_capacity_of_its_own),
        cmocka_unit_test(capacity_above_the_network_makes_one_bucket),
        cmocka_unit_test(capacity_of_one_byte_makes_a_bucket_of_each_parameter),
        cmocka_unit_test(frozen_layers_are_in_no_bucket),
        cmocka_unit_test(table_without_parameters_makes_an_empty_plan),
        cmocka_unit_test(parameters_stand_in_reverse_order_each_at_its_place),
        cmocka_unit_test(run_count_and_alignment_hold_for_any_table),
        cmocka_unit_test(close_takes_null),
        cmocka_unit_test(layers_that_are_left_out_together_share_no_bucket_with_others),
    };

    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
