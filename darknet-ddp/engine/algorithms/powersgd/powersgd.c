/* The compression of -ddp_compress powersgd:R. It is algorithms 1 and 2 of Vogels et al. 2019,
 * "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization", and PyTorch's
 * powerSGD_hook.
 *
 * Of a weight matrix a rank sends two thin ones, P and Q, in two sums over ranks; the second sum
 * needs the first. Let g be this rank's gradient, e its error (algorithms/compression.h), and N the
 * number of ranks:
 *
 *     M = g + e
 *     P = M Q                         first sum, over ranks
 *     P = orth(P)                     on each rank alike
 *     Q = M^T P                       second sum
 *     the gradient becomes P Q^T, e becomes M - P Q^T / N, and orth(Q) begins the next step
 *
 * So what is not sent now is added to what is sent later: the gradient, and the errors summed over
 * ranks, together are the sum of all M. All ranks keep the same Q, with which the next step begins
 * (warm start). The first Q is drawn, the same in each run. */
#include "algorithms/compression.h"
#include "algorithms/powersgd/low_rank.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

struct powersgd {
    ddp_state *state;
    size_t q, drawn; /* arrays of state: Q, and Q as it was drawn at first */
};

/* P in round 0, Q in round 1. */
static size_t send_count(double value, size_t rows, size_t columns, int round)
{
    return (round == 0 ? rows : columns) * (size_t)value;
}

static ddp_shape shape_of(const ddp_matrix *m)
{
    return (ddp_shape){
        .rows = m->rows, .columns = m->columns, .rank = m->rows ? (size_t)m->value : 0};
}

/* ---- opening ---- */

static void draw_column(float *q, ddp_shape s, size_t i, size_t column)
{
    ddp_random random;

    ddp_random_init(&random, 0, ddp_random_topic(DDP_PURPOSE_COMPRESS, (int)column), i);
    for (size_t j = 0; j < s.columns; j++)
        q[column * s.columns + j] = ddp_random_unit(&random) - 0.5F;
}

static void draw(const struct powersgd *p, const ddp_matrix *m)
{
    ddp_shape s = shape_of(m);
    float *drawn = ddp_state_host(p->state, p->drawn, m->param);
    float *q = ddp_state_host(p->state, p->q, m->param);

    if (!q)
        return;
    for (size_t column = 0; column < s.rank; column++)
        draw_column(drawn, s, m->param, column);
    memcpy(q, drawn, s.columns * s.rank * sizeof *q);
    ddp_matrix_renew_q(q, drawn, s);
}

static ddp_status declare(struct powersgd *p, const ddp_compression_of *of, ddp_error *err)
{
    static const ddp_state_spec q = {.name = "PowerSGD Q", .kind = DDP_STATE_SAME};
    static const ddp_state_spec drawn = {.name = "first Q", .kind = DDP_STATE_SCRATCH};
    size_t *counts = calloc(of->param_count + 1, sizeof *counts);
    ddp_status st;

    if (!counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", of->param_count);
    for (size_t i = 0; i < of->param_count; i++)
        counts[i] = of->matrices[i].send_count[1]; /* Q is what the second round sums */
    st = ddp_state_add_set(p->state, &q, counts, &p->q, err);
    if (!st)
        st = ddp_state_add_set(p->state, &drawn, counts, &p->drawn, err);
    free(counts);
    return st;
}

static ddp_status open_powersgd(void **self, const ddp_compression_of *of, ddp_error *err)
{
    struct powersgd *p = calloc(1, sizeof *p);

    *self = p;
    if (!p)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for PowerSGD");
    p->state = of->state;
    if (declare(p, of, err))
        return err->code;
    for (size_t i = 0; i < of->param_count; i++)
        draw(p, &of->matrices[i]);
    return DDP_OK;
}

/* ---- a bucket ---- */

static ddp_low_rank low_rank_of(const struct powersgd *p, const ddp_matrix *m)
{
    return (ddp_low_rank){.shape = shape_of(m),
                          .m = m->gradient,
                          .error = m->error,
                          .q = ddp_state_on_device(p->state, p->q, m->param),
                          .drawn = ddp_state_on_device(p->state, p->drawn, m->param),
                          .p = m->numbers[0],
                          .q_sum = m->numbers[1]};
}

static void encode(void *self, const ddp_matrix *m, int round, ddp_device *queue)
{
    ddp_low_rank x = low_rank_of(self, m);

    if (round == 0)
        ddp_low_rank_compute_p(queue, &x);
    else
        ddp_low_rank_compute_q(queue, &x);
}

/* The next Q is made beside what the framework computes next. */
static void decode(void *self, const ddp_matrix *m, const float *ran, ddp_device *queue,
                   ddp_device *aside)
{
    ddp_low_rank x = low_rank_of(self, m);

    ddp_low_rank_decode(queue, &x, ran, 1.0F / (float)m->ranks);
    ddp_device_follow(aside, queue);
    ddp_low_rank_renew_q(aside, &x, ran);
}

const ddp_compression ddp_compression_powersgd = {
    .how = "PowerSGD of rank #",
    .send_count = send_count,
    .encode = encode,
    .decode = decode,
    .open = open_powersgd,
    .close = free,
};
