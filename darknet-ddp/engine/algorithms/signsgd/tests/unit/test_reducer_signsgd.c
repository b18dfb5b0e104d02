/* Sign-SGD with error feedback (signsgd.c) on 2 to 4 ranks: its definition, in double. */
#include "unit/compressed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

extern const ddp_algorithm ddp_algorithm_signsgd;

/* ---- the definition ---- */

static void define_rank(struct compressed_model *m, const struct compressed_net *net, int rank,
                        int step, size_t p)
{
    size_t count = compressed_count(net, p);
    double scale = 0;

    for (size_t i = 0; i < count; i++)
        scale += fabs(compressed_m(m, net, rank, step, p, i)) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double x = compressed_m(m, net, rank, step, p, i), told = x < 0 ? -scale : scale;

        m->sum[p][i] += told;
        m->error[rank][p][i] = x - told;
    }
}

static void define_signs(struct compressed_model *m, const struct compressed_net *net, int step,
                         size_t p)
{
    for (int rank = 0; rank < m->size; rank++)
        define_rank(m, net, rank, step, p);
}

static const struct compressed_net net = {
    .algorithm = &ddp_algorithm_signsgd,
    .options = {.compress = {DDP_CHOICE_signsgd, 0}},
    .layers = 4,
    .params = 4,
    .shapes = {{0, 24, 90, 1}, {1, 40, 100, 1}, {2, 17, 15, 1}, {3, 1, 24, 0}},
    .unused = 1,
    .whole = 1,
    .tolerance = 1e-3,
    .define = define_signs,
};

/* ---- tests ---- */

struct job {
    const ddp_reducer_config *config;
    struct compressed_model *models; /* of each rank, so that they compute side by side */
    float *results;
};

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;

    compressed_take_steps(me, &net, ddp_device_host(), job->config, me->size % 2,
                          &job->models[me->rank],
                          job->results + (size_t)me->rank * COMPRESSED_RESULTS);
}

static void it_is_its_definition_whatever_the_buckets(void **state)
{
    struct compressed_model *models = calloc(COMPRESSED_RANKS, sizeof *models);
    float *results = calloc(COMPRESSED_RANKS, COMPRESSED_RESULTS * sizeof *results);

    (void)state;
    assert_non_null(models);
    assert_non_null(results);
    for (int size = 2; size <= COMPRESSED_RANKS; size++)
        for (size_t c = 0; c < COMPRESSED_CONFIGS; c++) {
            struct job job = {
                .config = &compressed_configs[c], .models = models, .results = results};

            ranks_run(size, take_steps, &job);
        }
    free(models);
    free(results);
}

static void drop_what_is_no_number(struct rank *me)
{
    struct compressed c;
    ddp_error err;
    size_t bucket;

    if (!compressed_open_reducer(&c, &net, ddp_device_host(), &compressed_configs[0], me))
        return;
    ddp_reducer_backward_begin(c.reducer, 1);
    if (me->rank == 1)
        c.gradients[1][77] = NAN;
    for (int layer = net.layers - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_ready(c.reducer, layer, &err), &err);
    rank_expect_ok(me, ddp_reducer_backward_end(c.reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(c.reducer, &err), &err);
    if (ddp_reducer_finite(c.reducer, &bucket))
        rank_wrong(me, "a number that is none was not seen");
    ddp_reducer_drop(c.reducer);
    for (size_t i = 0; i < compressed_count(&net, 1); i++)
        if (fpclassify(compressed_memory(&c, 1).error[i]) != FP_ZERO)
            rank_wrong(me, "error [%zu] is not zero", i);
    rank_meet(me);
    compressed_close(&c);
}

static void what_is_no_number_is_seen_and_dropped(void **state)
{
    (void)state;
    ranks_run(3, drop_what_is_no_number, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_its_definition_whatever_the_buckets),
        cmocka_unit_test(what_is_no_number_is_seen_and_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
