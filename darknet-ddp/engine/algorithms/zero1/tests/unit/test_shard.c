/* ddp-test: quick */
/* Tests of sharded moments (shard.h). Updates give the bits of a run in which each rank updates
 * everything, also if a layer ran on some rank only, or on none. Moments that one rank or a file
 * has at the start are handed out. Numbers that are not finite are noticed. */
#include "algorithms/zero1/shard.h"
#include "comm/collectives.h"

#include "unit/toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, STEPS = 4, MOST = 2 };

/* A network, its optimizer, and a reducer. */
struct learner {
    struct toy toy, moments[MOST];
    ddp_reducer *reducer;
    ddp_shard *shard; /* NULL: nothing is shared out */
};

struct job {
    size_t bucket_bytes;
    int first_trained;
    int mini_batches; /* of a reducer that sums in a tree; 0: it does not */
    int from_file;    /* the first moments of what is shared out are not the framework's */
};

/* Layer 1 runs on rank 0 alone, 3 everywhere, 4 nowhere in odd steps, 6 not on rank 0, 8 now and
 * then. */
static int runs(const struct toy_step *s, int rank, int pass, int layer)
{
    switch (layer) {
    case 1:
        return rank == 0;
    case 4:
        return s->seed % 2 == 0;
    case 6:
        return rank > 0;
    case 8:
        return (s->seed + (unsigned)(rank + pass)) % 3 == 0;
    default:
        return 1;
    }
}

static float first_moment(size_t i, int k)
{
    return (float)(i % 5) + (float)k;
}

static ddp_status read_first(void *ctx, const ddp_sharded_block *b, float *x, ddp_error *err)
{
    (void)ctx, (void)err;
    for (size_t i = 0; i < b->count; i++)
        x[i] = first_moment(b->at + i, b->moment);
    return DDP_OK;
}

static const ddp_sharded_source first = {read_first, NULL};

static int root_of(const struct rank *me)
{
    return me->size - 1;
}

/* Does the framework begin with moments of parameter p? All ranks have those of frozen parameters,
 * which are not shared out. */
static int is_framework_s(const struct learner *l, const struct rank *me, size_t p, int shard)
{
    const struct job *job = me->shared;
    int trained = l->toy.params[p].layer >= job->first_trained;

    return !shard || !trained || (me->rank == root_of(me) && !(job->from_file && me->size > 1));
}

/* Parameter p has p % 3 moments, which rank root_of has begun with. */
static void learner_open(struct learner *l, struct rank *me, int shard)
{
    const struct job *job = me->shared;
    const ddp_reducer_config config = {.bucket_bytes = job->bucket_bytes,
                                       .first_bucket_bytes = job->bucket_bytes,
                                       .defer_bytes = shard ? 0 : 1 << 20,
                                       .overlap = 1,
                                       .find_unused = 1,
                                       .sharded = shard,
                                       .mini_batches = job->mini_batches};
    ddp_error err;

    toy_open(&l->toy, job->first_trained);
    for (int k = 0; k < MOST; k++)
        toy_open(&l->moments[k], 0);
    for (size_t p = 0; p < TOY_PARAMS; p++) {
        ddp_param *param = &l->toy.params[p];

        param->optimizer.moments = (int)(p % 3);
        for (int k = 0; k < param->optimizer.moments; k++) {
            param->optimizer.buffer[k] = l->moments[k].values[p];
            param->optimizer.name[k] = "moment";
            for (size_t i = 0; i < param->count && is_framework_s(l, me, p, shard); i++)
                l->moments[k].values[p][i] = first_moment(i, k);
        }
        for (size_t i = 0; i < param->count; i++)
            param->value[i] = (float)(i % 11) - 5;
    }
    rank_expect_ok(me, ddp_reducer_open(&l->reducer, me->group, &l->toy.table, &config, &err),
                   &err);
    l->shard = NULL;
    if (ddp_reducer_sharded_sums(l->reducer)) {
        const ddp_shard_of of = {.group = me->group,
                                 .table = &l->toy.table,
                                 .plan = ddp_reducer_plan(l->reducer),
                                 .memory = ddp_reducer_memory(l->reducer),
                                 .sums = ddp_reducer_sharded_sums(l->reducer),
                                 .root = root_of(me),
                                 .saved_moments =
                                     job->from_file && me->rank == root_of(me) ? &first : NULL};

        rank_expect_ok(me, ddp_shard_open(&l->shard, &of, &err), &err);
    }
}

static void learner_close(struct learner *l)
{
    ddp_shard_close(l->shard);
    ddp_reducer_close(l->reducer);
    for (int k = 0; k < MOST; k++)
        toy_close(&l->moments[k]);
    toy_close(&l->toy);
}

/* Elements begin to end of a parameter, and their moments. */
static void update(const ddp_param *p, size_t begin, size_t end, float *const *moments)
{
    float *gradient = *p->gradient_slot;

    for (size_t i = begin; i < end; i++) {
        float u = gradient[i] - 0.01F * p->value[i];

        for (int k = 0; k < p->optimizer.moments; k++) {
            moments[k][i - begin] = 0.9F * moments[k][i - begin] + u;
            u = 0.5F * moments[k][i - begin];
        }
        p->value[i] += 0.001F * u;
        gradient[i] = 0;
    }
}

static void update_param(const struct learner *l, const ddp_param *p)
{
    const ddp_shard *shard = l->shard;
    const ddp_sharded_range *parts;
    size_t count;

    if (!shard) {
        update(p, 0, p->count, p->optimizer.buffer);
        return;
    }
    parts = ddp_shard_ranges(shard, *p->gradient_slot, &count);
    for (size_t i = 0; i < count; i++)
        update(p, parts[i].begin, parts[i].end, parts[i].moments);
}

static void publish(const void *shard, size_t bucket)
{
    ddp_shard_publish_bucket(shard, bucket);
}

static void take(const void *shard, size_t param)
{
    ddp_shard_take_parameter(shard, param);
}

/* From the last layer to the first. */
static void update_all(struct learner *l, struct rank *me, int *used)
{
    ddp_error err;

    for (int layer = TOY_LAYERS - 1; layer >= 0; layer--) {
        rank_expect_ok(me, ddp_reducer_layer_fence(l->reducer, layer, &used[layer], &err), &err);
        for (size_t p = 0; p < TOY_PARAMS && used[layer]; p++)
            if (l->toy.params[p].layer == layer)
                update_param(l, &l->toy.params[p]);
    }
    if (!l->shard)
        return;
    rank_expect_ok(me, ddp_reducer_send_updated(l->reducer, publish, l->shard, &err), &err);
    for (int layer = 0; layer < TOY_LAYERS; layer++)
        rank_expect_ok(me, ddp_reducer_receive_updated(l->reducer, layer, take, l->shard, &err),
                       &err);
}

static void expect_alike(struct rank *me, float *const *a, float *const *b, const struct toy *toy,
                         const char *what)
{
    for (size_t p = 0; p < TOY_PARAMS; p++)
        if (memcmp(a[p], b[p], toy->params[p].count * sizeof *a[p]) != 0)
            rank_wrong(me, "%s of parameter %zu differ", what, p);
}

enum { ASKED = 1000 };

/* On rank 0: moment k of parameter p, in blocks that end where no part does. */
static void ask_for(struct rank *me, ddp_sharded *shard, size_t p, int k, const float *expected,
                    size_t count)
{
    float block[ASKED];
    ddp_error err;

    for (size_t at = 0; at < count; at += ASKED) {
        const ddp_sharded_block b = {p, k, at, count - at < ASKED ? count - at : ASKED};

        rank_expect_ok(me, ddp_sharded_ask_block(shard, &b, block, &err), &err);
        if (memcmp(block, expected + at, b.count * sizeof *block) != 0)
            rank_wrong(me, "moment %d of parameter %zu differs from %zu on", k, p, at);
    }
}

static void ask_for_all(struct rank *me, struct learner *shared, const struct learner *whole)
{
    ddp_sharded *shard = ddp_shard_moments(shared->shard);
    ddp_sharded_block bad;
    ddp_error err;
    int finite;

    rank_expect_ok(me, ddp_sharded_ask_finite(shard, &finite, &bad, &err), &err);
    if (!finite)
        rank_wrong(me, "moment %d of parameter %zu is not finite", bad.moment, bad.param);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        for (int k = 0; k < shared->toy.params[p].optimizer.moments; k++) {
            size_t count = shared->toy.params[p].count;
            const float *expected = whole->moments[k].values[p];

            if (k < ddp_moments_trained(&shared->toy.table, &shared->toy.params[p]))
                ask_for(me, shard, p, k, expected, count);
            else if (memcmp(shared->moments[k].values[p], expected, count * sizeof *expected) != 0)
                rank_wrong(me, "moment %d of parameter %zu, which is frozen, differs", k, p);
        }
    rank_expect_ok(me, ddp_sharded_ask_end(shard, &err), &err);
}

/* A checkpoint can be made before the first step, and between any two; nothing is lost by it. */
static void expect_same_moments(struct rank *me, struct learner *shared,
                                const struct learner *whole)
{
    ddp_error err;

    if (!shared->shard)
        return;
    if (me->rank == 0)
        ask_for_all(me, shared, whole);
    else
        rank_expect_ok(me, ddp_sharded_serve_blocks(ddp_shard_moments(shared->shard), &err), &err);
    for (size_t p = 0; p < TOY_PARAMS; p++)
        for (int k = 0; k < shared->toy.params[p].optimizer.moments; k++)
            for (size_t i = 0; i < shared->toy.params[p].count; i++)
                if (shared->toy.params[p].layer >= shared->toy.table.first_trained
                    && shared->moments[k].values[p][i] != 0)
                    rank_wrong(me, "the framework has a moment of parameter %zu", p);
}

static void learn(struct rank *me)
{
    const struct job *job = me->shared;
    struct learner shared, whole;

    learner_open(&whole, me, 0);
    learner_open(&shared, me, 1);
    if ((shared.shard != NULL) != (me->size > 1))
        rank_wrong(me, "%d ranks share nothing out", me->size);
    expect_same_moments(me, &shared, &whole);
    for (unsigned i = 1; i <= STEPS; i++) {
        struct toy_step step = {.seed = i,
                                .passes = job->mini_batches ? job->mini_batches : 2,
                                .any_float = 1,
                                .runs = runs};
        int used[2][TOY_LAYERS];

        toy_backward(&whole.toy, whole.reducer, &step, me);
        update_all(&whole, me, used[0]);
        toy_backward(&shared.toy, shared.reducer, &step, me);
        update_all(&shared, me, used[1]);
        if (memcmp(used[0], used[1], sizeof used[0]) != 0)
            rank_wrong(me, "step %u: other layers ran", i);
        expect_alike(me, shared.toy.values, whole.toy.values, &whole.toy, "values");
        expect_alike(me, shared.toy.gradients, whole.toy.gradients, &whole.toy, "gradients");
        expect_same_moments(me, &shared, &whole);
    }
    rank_meet(me);
    learner_close(&shared);
    learner_close(&whole);
}

static void shared_out_is_the_same(void **state)
{
    static const size_t capacities[] = {1, 4096, 1 << 30};

    (void)state;
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
        for (int size = 1; size <= MAX_RANKS; size++)
            for (int kind = 0; kind < 3; kind++) {
                struct job job = {.bucket_bytes = capacities[c],
                                  .first_trained = kind == 1 ? 4 : 0,
                                  .mini_batches = kind == 2 ? 2 : 0};

                ranks_run(size, learn, &job);
            }
}

static void moments_may_come_from_a_file(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_RANKS; size++)
        for (int first_trained = 0; first_trained <= 4; first_trained += 4) {
            struct job job = {.bucket_bytes = 4096, .first_trained = first_trained, .from_file = 1};

            ranks_run(size, learn, &job);
        }
}

static void by_levels_too(void **state)
{
    static const struct hosts_shape shapes[] = {
        {1, 0, {2}}, {1, 0, {4}}, {2, 0, {2, 2}}, {3, 0, {2, 1, 3}}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct job job = {.bucket_bytes = 4096};

        ranks_run_levels(shapes[i].ranks, shapes[i].hosts, shapes[i].radix, learn, &job);
    }
}

/* Nobody has more than a part and what rounding adds. */
static void measure(struct rank *me)
{
    struct learner l;
    ddp_shard_size size, all[RANKS_MAX];
    size_t sum = 0;
    ddp_error err;

    learner_open(&l, me, 1);
    size = ddp_shard_bytes(l.shard);
    rank_expect_ok(me, ddp_allgather(me->group, &size, all, sizeof size, &err), &err);
    for (int r = 0; r < me->size; r++)
        sum += all[r].own;
    if (sum != size.all || size.own > size.all / 2)
        rank_wrong(me, "%zu of %zu bytes here, %zu on all ranks", size.own, size.all, sum);
    learner_close(&l);
}

static void each_rank_has_a_part(void **state)
{
    struct job job = {.bucket_bytes = 4096};

    (void)state;
    for (int size = 3; size <= MAX_RANKS; size++)
        ranks_run(size, measure, &job);
}

/* A gradient that is not finite on one rank: each rank knows it when it has taken the bucket. */
static void break_one(struct rank *me)
{
    struct toy_step step = {.seed = 1, .passes = 1, .any_float = 1};
    struct learner l;
    int used[TOY_LAYERS];
    size_t bucket;

    learner_open(&l, me, 1);
    if (me->rank == me->size - 1)
        l.toy.gradients[7][4000] = INFINITY; /* layer 6 */
    toy_backward(&l.toy, l.reducer, &step, me);
    if (!ddp_reducer_finite(l.reducer, &bucket))
        rank_wrong(me, "known on this rank before it is on others");
    update_all(&l, me, used);
    if (ddp_reducer_finite(l.reducer, &bucket))
        rank_wrong(me, "all is finite");
    else if (ddp_reducer_plan(l.reducer)->places[7].bucket != bucket)
        rank_wrong(me, "bucket %zu is not finite", bucket);
    rank_meet(me);
    learner_close(&l);
}

static void every_rank_learns_of_a_gradient_that_is_not_finite(void **state)
{
    static const int ranks[] = {2, 2};
    struct job job = {.bucket_bytes = 1};

    (void)state;
    for (int size = 2; size <= MAX_RANKS; size++)
        ranks_run(size, break_one, &job);
    ranks_run_levels(ranks, 2, 0, break_one, &job);
}

/* The last rank's part of a parameter gets a moment that is not. Rank 0 knows which. */
static void break_moments(struct rank *me)
{
    enum { PARAM = 8, MOMENT = 1 };
    const ddp_sharded_range *parts;
    ddp_sharded_block bad;
    struct learner l;
    ddp_error err;
    size_t count;
    int finite;

    learner_open(&l, me, 1);
    parts = ddp_shard_ranges(l.shard, l.toy.gradients[PARAM], &count);
    if (me->rank == me->size - 1 && count > 0)
        parts[count - 1].moments[MOMENT][0] = NAN;
    if (me->rank == me->size - 1 && count == 0)
        rank_wrong(me, "no part of the parameter");
    if (me->rank == 0) {
        rank_expect_ok(me, ddp_sharded_ask_finite(ddp_shard_moments(l.shard), &finite, &bad, &err),
                       &err);
        if (finite || bad.param != PARAM || bad.moment != MOMENT)
            rank_wrong(me, "moment %d of parameter %zu, %d", bad.moment, bad.param, finite);
        rank_expect_ok(me, ddp_sharded_ask_end(ddp_shard_moments(l.shard), &err), &err);
    } else {
        rank_expect_ok(me, ddp_sharded_serve_blocks(ddp_shard_moments(l.shard), &err), &err);
    }
    rank_meet(me);
    learner_close(&l);
}

static void a_moment_that_is_not_finite_is_named(void **state)
{
    struct job job = {.bucket_bytes = 1};

    (void)state;
    for (int size = 2; size <= MAX_RANKS; size++)
        ranks_run(size, break_moments, &job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_out_is_the_same),
        cmocka_unit_test(moments_may_come_from_a_file),
        cmocka_unit_test(by_levels_too),
        cmocka_unit_test(each_rank_has_a_part),
        cmocka_unit_test(every_rank_learns_of_a_gradient_that_is_not_finite),
        cmocka_unit_test(a_moment_that_is_not_finite_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
