#include "compressed_checks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* Results of ranks, for each other and for other configs. */
struct job {
    const struct compressed_net *net;
    const ddp_reducer_config *config;
    int drop;
    struct compressed_model *models; /* of each rank, so that they compute side by side */
    float *results;                  /* of each rank COMPRESSED_RESULTS */
};

static float *results_of(const struct job *job, int rank)
{
    return job->results + (size_t)rank * COMPRESSED_RESULTS;
}

static void *room(size_t count, size_t bytes)
{
    void *x = calloc(count, bytes);

    assert_non_null(x);
    return x;
}

/* ---- the definition ---- */

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;

    compressed_take_steps(me, job->net, ddp_device_host(), job->config, job->drop,
                          &job->models[me->rank], results_of(job, me->rank));
}

void compressed_is_its_definition(const struct compressed_net *net)
{
    struct compressed_model *models = room(COMPRESSED_RANKS, sizeof *models);
    float *results[2] = {room(COMPRESSED_RANKS, COMPRESSED_RESULTS * sizeof(float)),
                         room(COMPRESSED_RANKS, COMPRESSED_RESULTS * sizeof(float))};
    size_t kind_bytes = COMPRESSED_RESULTS / COMPRESSED_KINDS * sizeof(float);

    for (int size = 2; size <= COMPRESSED_RANKS; size++)
        for (size_t c = 0; c < 2 * (size_t)COMPRESSED_CONFIGS; c++) {
            struct job job = {.net = net,
                              .config = &compressed_configs[c % COMPRESSED_CONFIGS],
                              .drop = c >= COMPRESSED_CONFIGS,
                              .models = models,
                              .results = results[c > 0]};

            ranks_run(size, take_steps, &job);
            assert_memory_equal(results[c > 0], results[0],
                                (size_t)size * COMPRESSED_RESULTS * sizeof(float));
            for (int r = 1; r < size; r++)
                for (int kind = 0; kind < COMPRESSED_KINDS; kind += 2) /* not errors */
                    assert_memory_equal(results_of(&job, r) + compressed_result(kind, 0),
                                        job.results + compressed_result(kind, 0), kind_bytes);
        }
    free(models);
    free(results[0]);
    free(results[1]);
}

/* ---- steps that are dropped ---- */

static void expect_nothing_left(struct compressed *c, struct rank *me)
{
    for (size_t p = 0; p < c->net->params; p++)
        for (size_t i = 0; i < compressed_count(c->net, p); i++)
            if (fpclassify(c->gradients[p][i]) != FP_ZERO) {
                rank_wrong(me, "parameter %zu has a gradient left", p);
                return;
            }
}

static size_t first_compressed(const struct compressed_net *net)
{
    size_t p = 0;

    while (!net->shapes[p].is_compressed)
        p++;
    return p;
}

/* A step that has a number that is none, on one rank. */
static void drop_what_is_no_number(struct compressed *c, struct rank *me)
{
    size_t bucket;
    ddp_error err;

    ddp_reducer_backward_begin(c->reducer, 1);
    if (me->rank == me->size - 1)
        c->gradients[first_compressed(c->net)][77] = NAN;
    for (int layer = c->net->layers - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_ready(c->reducer, layer, &err), &err);
    rank_expect_ok(me, ddp_reducer_backward_end(c->reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(c->reducer, &err), &err);
    if (ddp_reducer_finite(c->reducer, &bucket))
        rank_wrong(me, "a number that is none was not seen");
    ddp_reducer_discard_step(c->reducer);
}

static void drop_steps(struct rank *me)
{
    const struct job *job = me->shared;
    float *before = results_of(job, 2 * me->rank), *after = results_of(job, 2 * me->rank + 1);
    struct compressed c;
    ddp_error err;
    size_t bucket;

    if (!compressed_open_reducer(&c, job->net, ddp_device_host(), job->config, me))
        return;
    compressed_backward(&c, me, 0, 0);
    compressed_wait(&c, me, 0);
    compressed_clear(&c);
    compressed_keep(&c, before);
    compressed_backward(&c, me, 1, 0);
    rank_expect_ok(me, ddp_reducer_fence_all(c.reducer, &err), &err);
    if (!ddp_reducer_finite(c.reducer, &bucket))
        rank_wrong(me, "bucket %zu is not finite", bucket);
    ddp_reducer_discard_step(c.reducer);
    drop_what_is_no_number(&c, me);
    expect_nothing_left(&c, me);
    compressed_keep(&c, after);
    if (memcmp(before, after, COMPRESSED_RESULTS * sizeof *after) != 0)
        rank_wrong(me, "an error, or what is the same on all ranks, changed");
    rank_meet(me);
    compressed_close(&c);
}

void compressed_drops_leave_nothing(const struct compressed_net *net)
{
    struct job job = {.net = net,
                      .results =
                          room((size_t)2 * COMPRESSED_RANKS, COMPRESSED_RESULTS * sizeof(float))};

    for (size_t c = 0; c < COMPRESSED_CONFIGS; c++) {
        job.config = &compressed_configs[c];
        ranks_run(3, drop_steps, &job);
    }
    free(job.results);
}
