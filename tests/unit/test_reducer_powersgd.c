/* PowerSGD (core/compressor.h) against its definition, computed for all ranks in one place, in
 * double and word by word: gradients, errors and Q of several steps, on 2 to 4 ranks. */
#include "core/feedback.h"
#include "core/reducer.h"
#include "ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, PARAMS = 7, LAYERS = 6, STEPS = 6, RANK = 2, LARGEST = 40 * 100 };

/* Matrices that are compressed, one that is too small to be, vectors. Layer 4 runs in no even step.
 */
static const struct {
    int layer;
    size_t rows, columns;
} shape[PARAMS] = {{0, 24, 90}, {0, 1, 24}, {2, 5, 9},  {3, 40, 100},
                   {4, 33, 17}, {4, 0, 33}, {5, 16, 16}};

static size_t count_of(size_t p)
{
    return (shape[p].rows ? shape[p].rows : 1) * shape[p].columns;
}

static int is_compressed(size_t p)
{
    return p == 0 || p == 3 || p == 4 || p == 6;
}

static const ddp_compress_config powersgd = {.method = DDP_COMPRESS_POWERSGD, .rank = RANK};

static int runs(int layer, int step)
{
    return layer != 4 || step % 2 == 1;
}

/* What a rank adds to a parameter's element in a step. */
static double gradient_at(int rank, int step, size_t p, size_t i)
{
    uint64_t h = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15U + (uint64_t)step * 0xC2B2AE3D27D4EB4FU
                 + (uint64_t)p * 0x165667B19E3779F9U + i * 0xD6E8FEB86659FD93U;

    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    return (double)(int)(h % 2001) / 1000 - 1;
}

/* ---- a rank's network ---- */

struct net {
    ddp_table table;
    ddp_param params[PARAMS];
    float value;
    float *gradients[PARAMS], *memory[PARAMS];
    ddp_feedback *feedback;
    ddp_reducer *reducer;
};

static void open_table(struct net *n)
{
    *n = (struct net){.table = {.layer_count = LAYERS,
                                .param_count = PARAMS,
                                .device = ddp_device_host(),
                                .params = n->params}};
    for (size_t p = 0; p < PARAMS; p++) {
        n->memory[p] = calloc(count_of(p), sizeof(float));
        if (!n->memory[p])
            abort();
        n->gradients[p] = n->memory[p];
        n->params[p] = (ddp_param){.layer = shape[p].layer,
                                   .kind = "convolutional",
                                   .part = "weights",
                                   .count = count_of(p),
                                   .rows = shape[p].rows,
                                   .value = &n->value,
                                   .gradient_slot = &n->gradients[p]};
    }
}

static void close_net(struct net *n)
{
    ddp_reducer_close(n->reducer);
    ddp_feedback_close(n->feedback);
    for (size_t p = 0; p < PARAMS; p++)
        free(n->memory[p]);
}

static int open_net(struct net *n, struct rank *me, const ddp_reducer_config *config)
{
    ddp_reducer_config with = *config;
    ddp_error err;

    open_table(n);
    if (ddp_feedback_open(&n->feedback, &n->table, &powersgd, &err)) {
        rank_wrong(me, "%s", err.text);
        close_net(n);
        return 0;
    }
    with.feedback = n->feedback;
    if (ddp_reducer_open(&n->reducer, me->group, &n->table, &with, &err)) {
        rank_wrong(me, "%s", err.text);
        close_net(n);
        return 0;
    }
    return 1;
}

static void add_gradients(struct net *n, int rank, int step, int layer)
{
    for (size_t p = 0; p < PARAMS; p++)
        for (size_t i = 0; shape[p].layer == layer && i < count_of(p); i++)
            n->gradients[p][i] += (float)gradient_at(rank, step, p, i);
}

/* leave_out: ranks know which layer does not run. */
static void backward(struct net *n, struct rank *me, int step, int leave_out)
{
    const char left_out[LAYERS] = {[4] = (char)!runs(4, step)};
    ddp_error err;

    ddp_reducer_backward_begin(n->reducer, 1);
    if (leave_out)
        ddp_reducer_leave_out(n->reducer, left_out);
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        if (!runs(layer, step))
            continue;
        add_gradients(n, me->rank, step, layer);
        rank_expect_ok(me, ddp_reducer_layer_ready(n->reducer, layer, &err), &err);
        if ((me->rank + layer + step) % 3 == 0)
            rank_expect_ok(me, ddp_reducer_progress(n->reducer, &err), &err);
    }
    rank_expect_ok(me, ddp_reducer_backward_end(n->reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_launch_deferred(n->reducer, &err), &err);
}

static void wait_for_all(struct net *n, struct rank *me, int step)
{
    ddp_error err;

    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        int used = -1, want = runs(layer, step);

        rank_expect_ok(me, ddp_reducer_layer_wait(n->reducer, layer, &used, &err), &err);
        if (used != want)
            rank_wrong(me, "step %d, layer %d: used is %d, not %d", step, layer, used, want);
    }
}

static void clear(struct net *n)
{
    for (size_t p = 0; p < PARAMS; p++)
        memset(n->gradients[p], 0, count_of(p) * sizeof(float));
}

/* ---- the definition ---- */

struct model {
    int size;
    double error[MAX_RANKS][PARAMS][LARGEST];
    double q[PARAMS][LARGEST]; /* q[j * RANK + k], orthonormal columns */
    double sum[PARAMS][LARGEST];
};

static void orthonormal(double *x, size_t length)
{
    for (size_t k = 0; k < RANK; k++) {
        double norm = 0;

        for (size_t j = 0; j < k; j++) {
            double along = 0;

            for (size_t i = 0; i < length; i++)
                along += x[i * RANK + j] * x[i * RANK + k];
            for (size_t i = 0; i < length; i++)
                x[i * RANK + k] -= along * x[i * RANK + j];
        }
        for (size_t i = 0; i < length; i++)
            norm += x[i * RANK + k] * x[i * RANK + k];
        for (size_t i = 0; i < length; i++)
            x[i * RANK + k] /= sqrt(norm);
    }
}

static double m_of(const struct model *m, int rank, int step, size_t p, size_t i)
{
    return (double)(float)gradient_at(rank, step, p, i) + m->error[rank][p][i];
}

static void define_matrix(struct model *m, int step, size_t p)
{
    double left[LARGEST] = {0};
    size_t rows = shape[p].rows, columns = shape[p].columns;

    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                for (size_t k = 0; k < RANK; k++)
                    left[i * RANK + k] +=
                        m_of(m, r, step, p, i * columns + j) * m->q[p][j * RANK + k];
    orthonormal(left, rows);
    memset(m->q[p], 0, sizeof m->q[p]);
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                for (size_t k = 0; k < RANK; k++)
                    m->q[p][j * RANK + k] +=
                        m_of(m, r, step, p, i * columns + j) * left[i * RANK + k];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double sum = 0;

            for (size_t k = 0; k < RANK; k++)
                sum += left[i * RANK + k] * m->q[p][j * RANK + k];
            m->sum[p][i * columns + j] = sum;
        }
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows * columns; i++)
            m->error[r][p][i] = m_of(m, r, step, p, i) - m->sum[p][i] / m->size;
    orthonormal(m->q[p], columns);
}

static void define_plain(struct model *m, int step, size_t p)
{
    for (size_t i = 0; i < count_of(p); i++) {
        m->sum[p][i] = 0;
        for (int r = 0; r < m->size; r++)
            m->sum[p][i] += gradient_at(r, step, p, i);
    }
}

static void define(struct model *m, int step)
{
    for (size_t p = 0; p < PARAMS; p++) {
        memset(m->sum[p], 0, sizeof m->sum[p]);
        if (runs(shape[p].layer, step) && is_compressed(p))
            define_matrix(m, step, p);
        else if (runs(shape[p].layer, step))
            define_plain(m, step, p);
    }
}

/* As the run begins with; its Q has been looked at by itself. */
static void begin_model(struct model *m, const struct net *n, int size)
{
    m->size = size;
    memset(m->error, 0, sizeof m->error);
    for (size_t p = 0; p < PARAMS; p++)
        for (size_t j = 0; is_compressed(p) && j < shape[p].columns; j++)
            for (size_t k = 0; k < RANK; k++)
                m->q[p][j * RANK + k] =
                    (double)ddp_feedback_q(n->feedback, p)[k * shape[p].columns + j];
}

/* ---- the tests ---- */

static const ddp_reducer_config configs[] = {
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 5000, .first_bucket_bytes = 64, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 5000,
     .first_bucket_bytes = 64,
     .defer_bytes = 1 << 30,
     .overlap = 1,
     .find_unused = 1},
};

enum { CONFIGS = sizeof configs / sizeof configs[0] };

/* What ranks came to, for each other and for other configs. */
struct job {
    const ddp_reducer_config *config;
    int leave_out;
    struct model *models; /* of each rank, so that they compute side by side */
    float *results;       /* [rank][param] gradients of the last step, then errors, then Q */
};

static const size_t result_count = (size_t)3 * PARAMS * LARGEST;

static float *result_of(const struct job *job, int rank, int kind, size_t p)
{
    return job->results + (size_t)rank * result_count + ((size_t)kind * PARAMS + p) * LARGEST;
}

static void compare(struct rank *me, const char *what, int step, size_t p, const float *got,
                    const double *want, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - want[i]) <= 2e-4)) {
            rank_wrong(me, "step %d, parameter %zu: %s [%zu] is %.7g, not %.7g", step, p, what, i,
                       (double)got[i], want[i]);
            return;
        }
}

static void keep_results(const struct job *job, const struct net *n, int rank)
{
    for (size_t p = 0; p < PARAMS; p++) {
        memcpy(result_of(job, rank, 0, p), n->gradients[p], count_of(p) * sizeof(float));
        if (!is_compressed(p))
            continue;
        memcpy(result_of(job, rank, 1, p), ddp_feedback_error(n->feedback, p),
               count_of(p) * sizeof(float));
        memcpy(result_of(job, rank, 2, p), ddp_feedback_q(n->feedback, p),
               shape[p].columns * RANK * sizeof(float));
    }
}

static void take_steps(struct rank *me)
{
    struct job *job = me->shared;
    struct model *m = &job->models[me->rank];
    struct net n;

    if (!open_net(&n, me, job->config))
        return;
    begin_model(m, &n, me->size);
    for (int step = 0; step < STEPS; step++) {
        backward(&n, me, step, job->leave_out);
        wait_for_all(&n, me, step);
        define(m, step);
        for (size_t p = 0; p < PARAMS; p++) {
            compare(me, "the sum", step, p, n.gradients[p], m->sum[p], count_of(p));
            if (is_compressed(p))
                compare(me, "the error", step, p, ddp_feedback_error(n.feedback, p),
                        m->error[me->rank][p], count_of(p));
            else if (ddp_feedback_error(n.feedback, p))
                rank_wrong(me, "parameter %zu is compressed", p);
        }
        if (step < STEPS - 1)
            clear(&n);
    }
    keep_results(job, &n, me->rank);
    rank_meet(me);
    close_net(&n);
}

static void *room(size_t count, size_t bytes)
{
    void *x = calloc(count, bytes);

    assert_non_null(x);
    return x;
}

static void it_is_its_definition_and_the_same_whatever_the_buckets(void **state)
{
    struct model *models = room(MAX_RANKS, sizeof *models);
    float *results[2] = {room(MAX_RANKS * result_count, sizeof(float)),
                         room(MAX_RANKS * result_count, sizeof(float))};
    size_t shared_kinds = result_count / 3;

    (void)state;
    for (int size = 2; size <= MAX_RANKS; size++)
        for (size_t c = 0; c < 2 * CONFIGS; c++) {
            struct job job = {.config = &configs[c % CONFIGS],
                              .leave_out = c >= CONFIGS,
                              .models = models,
                              .results = results[c > 0]};

            ranks_run(size, take_steps, &job);
            assert_memory_equal(results[c > 0], results[0],
                                (size_t)size * result_count * sizeof(float));
            for (int r = 1; r < size; r++)
                for (size_t kind = 0; kind < 3; kind += 2) /* not errors */
                    assert_memory_equal(
                        job.results + (size_t)r * result_count + kind * shared_kinds,
                        job.results + kind * shared_kinds, shared_kinds * sizeof(float));
        }
    free(models);
    free(results[0]);
    free(results[1]);
}

static void q_begins_orthonormal(void **state)
{
    struct net n;
    ddp_error err;

    (void)state;
    open_table(&n);
    assert_int_equal(ddp_feedback_open(&n.feedback, &n.table, &powersgd, &err), DDP_OK);
    for (size_t p = 0; p < PARAMS; p++) {
        const float *q = ddp_feedback_q(n.feedback, p);
        double products[3] = {0};

        assert_int_equal(q != NULL, is_compressed(p));
        for (size_t j = 0; q && j < shape[p].columns; j++) {
            double a = (double)q[j], b = (double)q[shape[p].columns + j];

            products[0] += a * a;
            products[1] += a * b;
            products[2] += b * b;
        }
        if (q) {
            assert_true(fabs(products[0] - 1) < 1e-6 && fabs(products[2] - 1) < 1e-6);
            assert_true(fabs(products[1]) < 1e-6);
        }
    }
    close_net(&n);
}

/* What no step has reached stays; what one has reached that is then dropped, too. */
static void drop_a_step(struct rank *me)
{
    struct job *job = me->shared;
    struct net n;
    ddp_error err;
    size_t bucket;

    if (!open_net(&n, me, job->config))
        return;
    backward(&n, me, 0, 0);
    wait_for_all(&n, me, 0);
    clear(&n);
    keep_results(job, &n, me->rank);
    backward(&n, me, 1, 0);
    rank_expect_ok(me, ddp_reducer_fence_all(n.reducer, &err), &err);
    if (!ddp_reducer_finite(n.reducer, &bucket))
        rank_wrong(me, "bucket %zu is not finite", bucket);
    ddp_reducer_drop(n.reducer);
    ddp_reducer_backward_begin(n.reducer, 1);
    if (me->rank == me->size - 1)
        n.gradients[3][77] = NAN;
    for (int layer = LAYERS - 1; layer >= 0; layer--)
        rank_expect_ok(me, ddp_reducer_layer_ready(n.reducer, layer, &err), &err);
    rank_expect_ok(me, ddp_reducer_backward_end(n.reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_fence_all(n.reducer, &err), &err);
    if (ddp_reducer_finite(n.reducer, &bucket))
        rank_wrong(me, "a number that is none was not seen");
    ddp_reducer_drop(n.reducer);
    for (size_t p = 0; p < PARAMS; p++) {
        for (size_t i = 0; i < count_of(p); i++)
            if (fpclassify(n.gradients[p][i]) != FP_ZERO) {
                rank_wrong(me, "parameter %zu has a gradient left", p);
                break;
            }
        if (!is_compressed(p))
            continue;
        if (memcmp(result_of(job, me->rank, 1, p), ddp_feedback_error(n.feedback, p),
                   count_of(p) * sizeof(float))
                != 0
            || memcmp(result_of(job, me->rank, 2, p), ddp_feedback_q(n.feedback, p),
                      shape[p].columns * RANK * sizeof(float))
                   != 0)
            rank_wrong(me, "parameter %zu: error or Q changed", p);
    }
    rank_meet(me);
    close_net(&n);
}

static void a_step_that_is_dropped_changes_nothing(void **state)
{
    struct job job = {.results = room(MAX_RANKS * result_count, sizeof(float))};

    (void)state;
    for (size_t c = 0; c < CONFIGS; c++) {
        job.config = &configs[c];
        ranks_run(3, drop_a_step, &job);
    }
    free(job.results);
}

/* ---- what a checkpoint has ---- */

struct saved {
    float *errors; /* [rank][element] of parameter 3 */
    int ranks;
    float q[RANK * 100];
};

static void gather(struct rank *me)
{
    struct saved *saved = me->shared;
    size_t count = count_of(3);
    struct net n;
    ddp_error err;

    if (!open_net(&n, me, &configs[2]))
        return;
    for (size_t i = 0; i < count; i++)
        ddp_feedback_error(n.feedback, 3)[i] = (float)(i % 7) + 100.0F * (float)me->rank;
    ddp_feedback_error(n.feedback, 3)[0] = -0.0F;
    ddp_feedback_q(n.feedback, 3)[5] = 42;
    for (int twice = 0; twice < 2; twice++)
        rank_expect_ok(me, ddp_feedback_gather(n.feedback, me->group, &err), &err);
    if (me->rank == 0) {
        saved->ranks = ddp_feedback_gathered(n.feedback);
        for (int r = 0; r < saved->ranks; r++)
            memcpy(saved->errors + (size_t)r * count, ddp_feedback_gathered_error(n.feedback, r, 3),
                   count * sizeof(float));
        memcpy(saved->q, ddp_feedback_q(n.feedback, 3), sizeof saved->q);
    }
    rank_meet(me);
    close_net(&n);
}

static void scatter(struct rank *me)
{
    struct saved *saved = me->shared;
    size_t count = count_of(3);
    int from = -1;
    struct net n;
    ddp_error err;

    if (!open_net(&n, me, &configs[2]))
        return;
    if (me->rank == 0) {
        rank_expect_ok(me, ddp_feedback_reserve(n.feedback, saved->ranks, &err), &err);
        for (int r = 0; r < saved->ranks; r++)
            memcpy(ddp_feedback_gathered_error(n.feedback, r, 3), saved->errors + (size_t)r * count,
                   count * sizeof(float));
        memcpy(ddp_feedback_q(n.feedback, 3), saved->q, sizeof saved->q);
    }
    rank_expect_ok(me, ddp_feedback_scatter(n.feedback, me->group, &from, &err), &err);
    if (from != saved->ranks)
        rank_wrong(me, "%d ranks had errors, not %d", from, saved->ranks);
    for (size_t i = 0; i < count; i++) {
        float want = me->rank < from ? saved->errors[(size_t)me->rank * count + i] : 0;

        for (int r = me->rank + me->size; r < from; r += me->size)
            want += saved->errors[(size_t)r * count + i];
        if (memcmp(&want, &ddp_feedback_error(n.feedback, 3)[i], sizeof want) != 0) {
            rank_wrong(me, "error [%zu] is %g, not %g", i,
                       (double)ddp_feedback_error(n.feedback, 3)[i], (double)want);
            break;
        }
    }
    if (memcmp(saved->q, ddp_feedback_q(n.feedback, 3), sizeof saved->q) != 0)
        rank_wrong(me, "another Q");
    rank_meet(me);
    close_net(&n);
}

static void errors_of_all_ranks_come_back_and_are_added_up_on_fewer(void **state)
{
    struct saved saved = {.errors = room(MAX_RANKS * count_of(3), sizeof(float))};

    (void)state;
    for (int before = 2; before <= MAX_RANKS; before++) {
        ranks_run(before, gather, &saved);
        assert_int_equal(saved.ranks, before);
        for (int now = 2; now <= MAX_RANKS; now++)
            ranks_run(now, scatter, &saved);
    }
    free(saved.errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q_begins_orthonormal),
        cmocka_unit_test(it_is_its_definition_and_the_same_whatever_the_buckets),
        cmocka_unit_test(a_step_that_is_dropped_changes_nothing),
        cmocka_unit_test(errors_of_all_ranks_come_back_and_are_added_up_on_fewer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
