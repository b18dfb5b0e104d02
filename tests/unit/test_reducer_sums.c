/* ddp-test: quick tsan */
/* The reducer's sums: over 1 to 4 ranks, layers ready in another order on each. */
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, CONFIGS = 13 };

/* Buckets of one parameter, of some, of all; a first one of another size. */
static const ddp_reducer_config configs[CONFIGS] = {
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 4096, .first_bucket_bytes = 64, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 4096, .first_bucket_bytes = 64, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 300, .first_bucket_bytes = 40000, .overlap = 1, .find_unused = 0},
    {.bucket_bytes = 300, .first_bucket_bytes = 40000, .overlap = 0, .find_unused = 0},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 1,
     .first_bucket_bytes = 1,
     .defer_bytes = 1 << 30,
     .overlap = 1,
     .find_unused = 1},
    {.bucket_bytes = 300,
     .first_bucket_bytes = 64,
     .defer_bytes = 2000,
     .overlap = 0,
     .find_unused = 1},
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .priority = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 4096,
     .first_bucket_bytes = 64,
     .defer_bytes = 2000,
     .piece_bytes = 900,
     .priority = 1,
     .overlap = 1,
     .find_unused = 1},
    {.bucket_bytes = 1 << 30,
     .first_bucket_bytes = 1 << 30,
     .piece_bytes = 1,
     .priority = 1,
     .overlap = 1,
     .find_unused = 1},
};

/* With priority: another backlog after each step, so that now this and now that is late. */
static void adapt(ddp_reducer *r, unsigned step)
{
    ddp_reducer_adapt_order(r, step * 2741 % 9000);
}

struct job {
    ddp_reducer_config config;
    int (*runs)(const struct toy_step *s, int rank, int pass, int layer);
    int steps;
    int passes; /* of each step; 0: 1, 2, 3, 1, ... */
};

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;
    ddp_reducer *r;
    struct toy toy;
    ddp_error err;

    toy_open(&toy, 0);
    if (ddp_reducer_open(&r, me->group, &toy.table, &job->config, &err)) {
        rank_wrong(me, "%s", err.text);
        toy_close(&toy);
        return;
    }
    for (int i = 0; i < job->steps; i++) {
        struct toy_step step = {.seed = (unsigned)i + 1,
                                .passes = job->passes ? job->passes : i % 3 + 1,
                                .runs = job->runs};

        toy_backward(&toy, r, &step, me);
        toy_update(&toy, r, &step, me);
        adapt(r, step.seed);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

/* Each of the configs, on 1 to 4 ranks. */
static void run_everywhere(struct job job)
{
    for (size_t c = 0; c < CONFIGS; c++)
        for (int size = 1; size <= MAX_RANKS; size++) {
            job.config = configs[c];
            ranks_run(size, take_steps, &job);
        }
}

static void sums_are_exact_whatever_the_order_of_readiness(void **state)
{
    (void)state;
    run_everywhere((struct job){.steps = 4, .passes = 1});
}

static void passes_that_do_not_sync_add_up_before_the_sum(void **state)
{
    (void)state;
    run_everywhere((struct job){.steps = 2, .passes = 3});
}

/* About half of the layers run, now these and now those, and sometimes none. */
static int at_random(const struct toy_step *s, int rank, int pass, int layer)
{
    float draw = toy_gradient(s, rank + 16, pass, (size_t)layer, 0);

    return s->seed % 7 == 0 ? rank == 1 && draw > 2 : draw > 0;
}

static void fifty_steps_with_random_skips_equal_the_serial_model(void **state)
{
    static const size_t chosen[] = {0, 2, 3, 6, 8, 10, 11, 12};
    struct job job = {.steps = 50, .runs = at_random};

    (void)state;
    for (size_t c = 0; c < sizeof chosen / sizeof chosen[0]; c++)
        for (int size = 2; size <= MAX_RANKS; size++) {
            job.config = configs[chosen[c]];
            ranks_run(size, take_steps, &job);
        }
}

/* The gradients after one step, per rank. */
struct bits {
    ddp_reducer_config config;
    float *sums[MAX_RANKS][TOY_PARAMS];
};

static float *copy_of(const float *from, size_t count)
{
    float *to = malloc(count * sizeof *to);

    if (!to)
        abort();
    memcpy(to, from, count * sizeof *to);
    return to;
}

static void sum_any_floats(struct rank *me)
{
    static const struct toy_step step = {.seed = 5, .passes = 2, .any_float = 1};
    struct bits *bits = me->shared;
    ddp_reducer *r;
    struct toy toy;
    ddp_error err;
    int used;

    toy_open(&toy, 0);
    if (ddp_reducer_open(&r, me->group, &toy.table, &bits->config, &err)) {
        rank_wrong(me, "%s", err.text);
        toy_close(&toy);
        return;
    }
    ddp_reducer_adapt_order(r, 6000);
    toy_backward(&toy, r, &step, me);
    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_wait(r, layer, &used, &err), &err);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        bits->sums[me->rank][p] = copy_of(toy.gradients[p], toy.params[p].count);
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void expect_same_bits(const struct bits *a, int rank_a, const struct bits *b, int rank_b,
                             int size)
{
    struct toy toy;

    toy_open(&toy, 0);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        for (size_t i = 0; i < toy.params[p].count; i++) {
            const float *x = a->sums[rank_a][p], *y = b->sums[rank_b][p];

            if (memcmp(&x[i], &y[i], sizeof x[i]) != 0)
                fail_msg("%d ranks, parameter %zu [%zu]: %.9g on rank %d with buckets of %zu, "
                         "%.9g on rank %d with %zu",
                         size, p, i, (double)x[i], rank_a, a->config.bucket_bytes, (double)y[i],
                         rank_b, b->config.bucket_bytes);
        }
    toy_close(&toy);
}

static void bucket_size_and_overlap_do_not_change_a_bit(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++) {
        struct bits bits[CONFIGS] = {0};

        for (size_t c = 0; c < CONFIGS; c++) {
            bits[c].config = configs[c];
            ranks_run(size, sum_any_floats, &bits[c]);
        }
        for (size_t c = 0; c < CONFIGS; c++)
            for (int rank = 0; rank < size; rank++)
                expect_same_bits(&bits[0], 0, &bits[c], rank, size);
        for (size_t c = 0; c < CONFIGS; c++)
            for (int rank = 0; rank < size; rank++)
                for (size_t p = 0; p < TOY_PARAMS; p++)
                    free(bits[c].sums[rank][p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_whatever_the_order_of_readiness),
        cmocka_unit_test(passes_that_do_not_sync_add_up_before_the_sum),
        cmocka_unit_test(fifty_steps_with_random_skips_equal_the_serial_model),
        cmocka_unit_test(bucket_size_and_overlap_do_not_change_a_bit),
    };

    return cmocka_run_group_tests_name("reducer sums", tests, NULL, NULL);
}
