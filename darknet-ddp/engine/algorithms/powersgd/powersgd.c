/* PowerSGD: Vogels et al. 2019, "PowerSGD: Practical Low-Rank Gradient Compression for Distributed
 * Optimization", algorithms 1 and 2, and PyTorch's powerSGD_hook. Of a weight matrix a rank sends
 * two thin ones, P and Q, in two sums of which the second needs the first. With g this rank's
 * gradient, e its error (algorithms/error_feedback.h), N ranks:
 *
 *     M = g + e
 *     P = M Q                         first sum, over ranks
 *     P = orth(P)                     on each rank alike
 *     Q = M^T P                       second sum
 *     the gradient becomes P Q^T, e becomes M - P Q^T / N, and orth(Q) begins the next step
 *
 * so that what is not sent now is added to what is sent later: over ranks, gradient and errors
 * together are what went in. All ranks alike keep Q, with which the next step begins (its warm
 * start); it is drawn at first, the same in each run. */
#include "algorithms/error_feedback.h"
#include "algorithms/powersgd/low_rank.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

struct powersgd {
    ddp_error_feedback feedback; /* first */
    size_t q, drawn;             /* arrays of state: Q, and Q as it was drawn at first */
};

static int is_on(const ddp_options *o)
{
    return o->compress.word == DDP_CHOICE_powersgd;
}

static size_t rank_of(const ddp_options *o)
{
    return (size_t)o->compress.value;
}

/* P, and Q. */
static size_t numbers(const ddp_options *o, size_t rows, size_t columns, int round)
{
    return (round == 0 ? rows : columns) * rank_of(o);
}

static ddp_shape shape_of(const struct powersgd *p, size_t i)
{
    const ddp_matrix *m = &p->feedback.parts[i];

    return (ddp_shape){
        .rows = m->rows, .columns = m->columns, .rank = m->rows ? rank_of(p->feedback.options) : 0};
}

/* ---- opening ---- */

static void draw_column(float *q, ddp_shape s, size_t i, size_t column)
{
    ddp_random random;

    ddp_random_init(&random, 0, ddp_random_topic(DDP_PURPOSE_COMPRESS, (int)column), i);
    for (size_t j = 0; j < s.columns; j++)
        q[column * s.columns + j] = ddp_random_unit(&random) - 0.5F;
}

static void draw(const struct powersgd *p, size_t i)
{
    ddp_shape s = shape_of(p, i);
    float *drawn = ddp_state_host(p->feedback.state, p->drawn, i);
    float *q = ddp_state_host(p->feedback.state, p->q, i);

    if (!q)
        return;
    for (size_t column = 0; column < s.rank; column++)
        draw_column(drawn, s, i, column);
    memcpy(q, drawn, s.columns * s.rank * sizeof *q);
    ddp_matrix_renew(q, drawn, s);
}

static ddp_status declare(struct powersgd *p, ddp_error *err)
{
    static const ddp_state_spec q = {.name = "PowerSGD Q", .kind = DDP_STATE_SAME};
    static const ddp_state_spec drawn = {.name = "first Q", .kind = DDP_STATE_SCRATCH};
    size_t count = p->feedback.param_count, *counts = calloc(count + 1, sizeof *counts);
    ddp_status st;

    if (!counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", count);
    for (size_t i = 0; i < count; i++)
        counts[i] = shape_of(p, i).columns * shape_of(p, i).rank;
    st = ddp_state_add(p->feedback.state, &q, counts, &p->q, err);
    if (!st)
        st = ddp_state_add(p->feedback.state, &drawn, counts, &p->drawn, err);
    free(counts);
    return st;
}

static void close(void *self)
{
    struct powersgd *p = self;

    ddp_error_feedback_close(&p->feedback);
    free(p);
}

static ddp_status open(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    struct powersgd *p;
    ddp_status st;

    if (ddp_group_size(of->group) == 1)
        return DDP_OK;
    p = calloc(1, sizeof *p);
    if (!p)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for PowerSGD");
    st = ddp_error_feedback_open(&p->feedback, of, numbers, err);
    if (!st)
        st = declare(p, err);
    if (st) {
        close(p);
        return st;
    }
    for (size_t i = 0; i < p->feedback.param_count; i++)
        draw(p, i);
    *self = p;
    return DDP_OK;
}

/* ---- a bucket ---- */

static ddp_low_rank low_rank_of(const struct powersgd *p, const ddp_sum_part *part)
{
    const ddp_state *state = p->feedback.state;

    return (ddp_low_rank){.shape = shape_of(p, part->param),
                          .m = part->gradient,
                          .error = ddp_error_feedback_error(&p->feedback, part->param),
                          .q = ddp_state_used(state, p->q, part->param),
                          .drawn = ddp_state_used(state, p->drawn, part->param),
                          .p = part->numbers[0],
                          .q_sum = part->numbers[1]};
}

static void fill(void *self, const ddp_sum_part *part, int round, ddp_device *queue)
{
    ddp_low_rank x = low_rank_of(self, part);

    if (round == 0)
        ddp_low_rank_encode(queue, &x);
    else
        ddp_low_rank_go_on(queue, &x);
}

/* The next Q is made beside what the framework computes next. */
static void land(void *self, const ddp_sum_part *part, const float *ran, ddp_device *d,
                 ddp_device *queue)
{
    const struct powersgd *p = self;
    ddp_low_rank x = low_rank_of(p, part);

    ddp_low_rank_decode(d, &x, ran, 1.0F / (float)ddp_group_size(p->feedback.group));
    ddp_device_follow(queue, d);
    ddp_low_rank_renew(queue, &x, ran);
}

static const ddp_sum_plug sum = {.count = ddp_error_feedback_count, .fill = fill, .land = land};

/* ---- words ---- */

static void print(const void *self, FILE *out)
{
    const struct powersgd *p = self;
    char how[64];

    if (!p)
        return;
    (void)snprintf(how, sizeof how, "PowerSGD of rank %zu", rank_of(p->feedback.options));
    ddp_error_feedback_print(&p->feedback, out, how);
}

static size_t sends(const ddp_options *o, const ddp_param *param, int ranks)
{
    ddp_matrix m = ddp_matrix_of(o, param, numbers);

    (void)ranks;
    return m.rows ? m.numbers[0] + m.numbers[1] : m.count;
}

const ddp_algorithm ddp_algorithm_powersgd = {
    .name = "powersgd",
    .example = "-ddp_compress powersgd:2",
    .claims = {.decides = DDP_DECIDES_SUM | DDP_DECIDES_ORDER,
               .breaks = DDP_PROMISE_EXACT,
               .relies = DDP_PROMISE_SUMS}, /* what a rank keeps waits for the next sum */
    .sums = "what is compressed",
    .is_on = is_on,
    .open = open,
    .attach = ddp_error_feedback_attach,
    .close = close,
    .sum = &sum,
    .print = print,
    .print_resumed = ddp_error_feedback_print_resumed,
    .sends = sends,
};
