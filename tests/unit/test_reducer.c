/* ddp-test: quick tsan */
/* The reducer's contract on the memory, the frozen layers, repeats and times. */
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, FROZEN_BELOW = 4 };

static const ddp_reducer_config one_bucket = {
    .bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1};
static const ddp_reducer_config many_buckets = {
    .bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1};

/* Parameter p's gradients become value, value + 1, ... */
static void fill(struct toy *t, size_t p, float value)
{
    for (size_t i = 0; i < t->params[p].count; i++)
        t->gradients[p][i] = value + (float)i;
}

static void expect_filled(struct rank *me, const struct toy *t, size_t p, float value, float times)
{
    for (size_t i = 0; i < t->params[p].count; i++) {
        float want = (value + (float)i) * times;

        if (t->gradients[p][i] != want)
            rank_wrong(me, "layer %d %s [%zu] is %g, not %g", t->params[p].layer, t->params[p].part,
                       i, (double)t->gradients[p][i], (double)want);
    }
}

static ddp_reducer *open_reducer(struct rank *me, struct toy *t, const ddp_reducer_config *config)
{
    ddp_reducer *r = NULL;
    ddp_error err;

    rank_expect_ok(me, ddp_reducer_open(&r, me->group, &t->table, config, &err), &err);
    return r;
}

static void ready(struct rank *me, ddp_reducer *r, int layer)
{
    ddp_error err;

    rank_expect_ok(me, ddp_reducer_layer_ready(r, layer, &err), &err);
}

static void end_pass(struct rank *me, ddp_reducer *r)
{
    ddp_error err;

    rank_expect_ok(me, ddp_reducer_backward_end(r, &err), &err);
}

static void expect_used(struct rank *me, ddp_reducer *r, int layer, int want)
{
    ddp_error err;
    int used = -1;

    rank_expect_ok(me, ddp_reducer_layer_wait(r, layer, &used, &err), &err);
    if (used != want)
        rank_wrong(me, "layer %d: used is %d, not %d", layer, used, want);
}

static void take_and_return(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r;
    const ddp_place *places;

    toy_open(&toy, 0);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        fill(&toy, p, (float)p);
    r = open_reducer(me, &toy, &one_bucket);
    places = ddp_reducer_plan(r)->places;
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        const float *want = toy.gradients[TOY_PARAMS - 1] + places[p].offset;

        expect_filled(me, &toy, p, (float)p, 1);
        if (toy.gradients[p] != want)
            rank_wrong(me, "gradient %zu is at %p, not at %p", p, (void *)toy.gradients[p],
                       (const void *)want);
        fill(&toy, p, -3);
    }
    ddp_reducer_close(r);
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        if (toy.gradients[p] != toy.memory[p])
            rank_wrong(me, "gradient %zu is not in the framework's memory", p);
        expect_filled(me, &toy, p, -3, 1);
    }
    toy_close(&toy);
}

static void gradients_live_in_the_buckets_until_close(void **state)
{
    (void)state;
    ranks_run(1, take_and_return, NULL);
    ranks_run(2, take_and_return, NULL);
}

static void leave_frozen(struct rank *me)
{
    struct toy_step step = {.seed = 3, .passes = 2};
    struct toy toy;
    ddp_reducer *r;

    toy_open(&toy, FROZEN_BELOW);
    for (size_t p = 0; toy.params[p].layer < FROZEN_BELOW; p++)
        fill(&toy, p, (float)me->rank);
    r = open_reducer(me, &toy, me->shared);
    toy_backward(&toy, r, &step, me);
    toy_update(&toy, r, &step, me);
    ddp_reducer_backward_begin(r, 1);
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        ready(me, r, layer);
    end_pass(me, r);
    for (int layer = 0; layer < TOY_LAYERS; layer++)
        expect_used(me, r, layer, layer >= FROZEN_BELOW || !toy_has_params(layer));
    for (size_t p = 0; toy.params[p].layer < FROZEN_BELOW; p++) {
        if (toy.gradients[p] != toy.memory[p])
            rank_wrong(me, "gradient %zu of a frozen layer was moved", p);
        expect_filled(me, &toy, p, (float)me->rank, 1);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void frozen_layers_keep_their_gradients_and_need_not_run(void **state)
{
    ddp_reducer_config configs[] = {one_bucket, many_buckets};

    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        for (size_t c = 0; c < 2; c++)
            ranks_run(size, leave_frozen, &configs[c]);
}

/* If a repeat counted, the bucket would leave before layer 1's gradients are there. */
static void repeat_ready(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r;
    ddp_error err;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, &one_bucket);
    for (int step = 0; step < 2; step++) {
        ddp_reducer_backward_begin(r, 1);
        for (int layer = TOY_LAYERS - 1; layer > 1; layer--)
            for (int times = 0; times < 6; times++)
                ready(me, r, layer);
        rank_expect_ok(me, ddp_reducer_progress(r, &err), &err);
        rank_meet(me);
        fill(&toy, 0, 5);
        fill(&toy, 1, 6);
        ready(me, r, 1);
        ready(me, r, 1);
        end_pass(me, r);
        expect_used(me, r, 1, 1);
        expect_filled(me, &toy, 0, 5, (float)me->size);
        expect_filled(me, &toy, 1, 6, (float)me->size);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void repeats_of_a_ready_layer_are_ignored(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        ranks_run(size, repeat_ready, NULL);
}

static void expect_done(struct rank *me, const ddp_reducer *r, int want)
{
    if (ddp_reducer_done(r) != want)
        rank_wrong(me, "done is %d, not %d", !want, want);
}

static void ask_done(struct rank *me)
{
    struct toy toy;
    ddp_reducer *r;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, &many_buckets);
    for (int step = 0; step < 3; step++) {
        ddp_reducer_backward_begin(r, 1);
        for (int layer = TOY_LAYERS - 1; layer > 1; layer--)
            ready(me, r, layer);
        expect_done(me, r, 0);
        ready(me, r, 1);
        end_pass(me, r);
        for (int layer = 0; layer < TOY_LAYERS; layer++)
            expect_used(me, r, layer, 1);
        expect_done(me, r, 1);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void done_means_that_every_bucket_of_this_pass_has_landed(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        ranks_run(size, ask_done, NULL);
}

/* Rank 1 begins its backward pass two seconds after rank 0 has ended its own, which has a core for
 * its wait by then. */
static void measure(struct rank *me)
{
    static const struct timespec late = {2, 0};
    struct toy_step step = {.seed = 9, .passes = 1};
    ddp_reducer_times times;
    struct toy toy;
    ddp_reducer *r;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, me->shared);
    if (me->rank == 0)
        toy_backward(&toy, r, &step, me);
    rank_meet(me);
    if (me->rank == 1) {
        (void)nanosleep(&late, NULL);
        toy_backward(&toy, r, &step, me);
    }
    toy_update(&toy, r, &step, me);
    times = ddp_reducer_total_times(r);
    if (me->rank == 0 && times.wait_ns < 100000000)
        rank_wrong(me, "waited %.3f s for a rank that is 2 s late", (double)times.wait_ns / 1e9);
    if (times.drive_ns <= 0)
        rank_wrong(me, "drove %.9f s", (double)times.drive_ns / 1e9);
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void wait_time_is_what_a_late_rank_costs(void **state)
{
    ddp_reducer_config configs[] = {one_bucket, many_buckets, many_buckets};

    (void)state;
    configs[2].overlap = 0;
    for (size_t c = 0; c < 3; c++)
        ranks_run(2, measure, &configs[c]);
}

static void nothing_to_sum(struct rank *me)
{
    ddp_param_table table = {.device = ddp_device_host(), .layer_count = 3};
    ddp_reducer *r = NULL;
    ddp_error err;

    rank_expect_ok(me, ddp_reducer_open(&r, me->group, &table, &many_buckets, &err), &err);
    ddp_reducer_backward_begin(r, 1);
    ready(me, r, 2);
    rank_expect_ok(me, ddp_reducer_progress(r, &err), &err);
    end_pass(me, r);
    expect_used(me, r, 2, 1);
    expect_done(me, r, 1);
    ddp_reducer_close(r);
}

static void order_of_halves(struct rank *me)
{
    const ddp_reducer_config configs[] = {{.sharded = 1, .defer_bytes = 1},
                                          {.sharded = 1, .piece_bytes = 1},
                                          {.sharded = 1, .priority = 1}};
    ddp_param_table table = {.device = ddp_device_host(), .layer_count = 3};
    ddp_reducer *r;
    ddp_error err;

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        rank_expect_error(me, ddp_reducer_open(&r, me->group, &table, &configs[i], &err), &err,
                          DDP_ERR_USAGE,
                          "sums in halves, and of encoded numbers, start in the plan's order");
}

static void halves_start_in_the_plan_s_order(void **state)
{
    (void)state;
    ranks_run(2, order_of_halves, NULL);
}

/* Buckets of one parameter each; a quarter of all gradients is deferred. */
static void defer(struct rank *me)
{
    static const ddp_reducer_config config = {.bucket_bytes = 1,
                                              .first_bucket_bytes = 1,
                                              .defer_bytes = 1 << 30,
                                              .overlap = 1,
                                              .find_unused = 1};
    struct toy toy;
    ddp_reducer *r;
    ddp_error err;
    int deferred = 0;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, &config);
    for (int layer = TOY_LAYERS - 1; layer > 0; layer--)
        if (ddp_reducer_is_deferred(r, layer - 1) && toy_has_params(layer)
            && !ddp_reducer_is_deferred(r, layer))
            rank_wrong(me, "layer %d is deferred and the later layer %d is not", layer - 1, layer);
    for (int layer = 0; layer < TOY_LAYERS; layer++)
        deferred += ddp_reducer_is_deferred(r, layer);
    if (deferred == 0 || ddp_reducer_is_deferred(r, 0))
        rank_wrong(me, "%d layers are deferred", deferred);
    ddp_reducer_backward_begin(r, 1);
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        ready(me, r, layer);
    end_pass(me, r);
    expect_done(me, r, 0);
    rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
    for (int layer = 0; layer < TOY_LAYERS; layer++)
        expect_used(me, r, layer, 1);
    expect_done(me, r, 1);
    ddp_reducer_close(r);
    toy_close(&toy);
}

/* What is left of such a backlog is more than nothing: the last buckets of the plan are late. */
static void put_off(struct rank *me)
{
    static const ddp_reducer_config config = {.bucket_bytes = 1,
                                              .first_bucket_bytes = 1,
                                              .piece_bytes = 4096,
                                              .priority = 1,
                                              .overlap = 1,
                                              .find_unused = 1};
    enum { STEPS = 4 };
    static const int late_below[STEPS] = {0, 4, 0, 0};
    struct toy toy;
    ddp_reducer *r;
    ddp_error err;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, &config);
    for (int step = 0; step < STEPS; step++) {
        int late = late_below[step];

        ddp_reducer_backward_begin(r, 1);
        for (int layer = TOY_LAYERS - 1; layer >= 0; layer--) {
            if (ddp_reducer_is_deferred(r, layer) != (layer < late && toy_has_params(layer)))
                rank_wrong(me, "step %d: layer %d is %slate", step, layer,
                           layer < late ? "not " : "");
            ready(me, r, layer);
        }
        end_pass(me, r);
        if (late)
            expect_done(me, r, 0);
        rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
        for (int layer = 0; layer < TOY_LAYERS; layer++)
            expect_used(me, r, layer, 1);
        if (ddp_reducer_backlog(r) > 0)
            rank_wrong(me, "all has landed, and the backlog is %zu", ddp_reducer_backlog(r));
        ddp_reducer_adapt_order(r, step == 0 ? ddp_reducer_plan(r)->count / 8 + 1400 : 0);
    }
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void first_layers_are_late_where_the_line_is_behind(void **state)
{
    (void)state;
    for (int size = 2; size <= MAX_RANKS; size++)
        ranks_run(size, put_off, NULL);
}

/* A layer of a large bucket need not wait for the others' pieces. */
static void cut(struct rank *me)
{
    static const ddp_reducer_config config = {
        .bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .piece_bytes = 4000, .overlap = 1};
    struct toy toy;
    ddp_reducer *r;
    ddp_error err;
    size_t count = 0, bucket;

    toy_open(&toy, 0);
    r = open_reducer(me, &toy, &config);
    if (ddp_reducer_plan(r)->bucket_count != 1)
        rank_wrong(me, "%zu buckets", ddp_reducer_plan(r)->bucket_count);
    ddp_reducer_backward_begin(r, 1);
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        ready(me, r, layer);
    end_pass(me, r);
    rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
    expect_used(me, r, 8, 1);
    rank_meet(me);
    for (size_t i = 0; i < ddp_reducer_piece_count(r); i++)
        count += ddp_reducer_sum(r, i, &bucket) != NULL;
    if (count != (ddp_reducer_plan(r)->buckets[0].counts + 991) / 992)
        rank_wrong(me, "%zu sums of %zu elements", count, ddp_reducer_plan(r)->count);
    for (int layer = 0; layer < 8; layer++)
        expect_used(me, r, layer, 1);
    expect_done(me, r, 1);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void large_bucket_travels_in_pieces(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        ranks_run(size, cut, NULL);
}

static void last_layers_are_deferred_and_launched_last(void **state)
{
    (void)state;
    ranks_run(2, defer, NULL);
    ranks_run(3, defer, NULL);
}

static void network_without_parameters_takes_steps(void **state)
{
    (void)state;
    ranks_run(1, nothing_to_sum, NULL);
    ranks_run(3, nothing_to_sum, NULL);
}

static void close_takes_null(void **state)
{
    (void)state;
    ddp_reducer_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_start_in_the_plan_s_order),
        cmocka_unit_test(gradients_live_in_the_buckets_until_close),
        cmocka_unit_test(frozen_layers_keep_their_gradients_and_need_not_run),
        cmocka_unit_test(repeats_of_a_ready_layer_are_ignored),
        cmocka_unit_test(done_means_that_every_bucket_of_this_pass_has_landed),
        cmocka_unit_test(wait_time_is_what_a_late_rank_costs),
        cmocka_unit_test(last_layers_are_deferred_and_launched_last),
        cmocka_unit_test(first_layers_are_late_where_the_line_is_behind),
        cmocka_unit_test(large_bucket_travels_in_pieces),
        cmocka_unit_test(network_without_parameters_takes_steps),
        cmocka_unit_test(close_takes_null),
    };

    return cmocka_run_group_tests_name("reducer", tests, NULL, NULL);
}
