#include "compressed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double m_of(const struct compressed_model *m, const struct compressed_net *net, int rank,
                   int step, size_t p, size_t i)
{
    return (double)compressed_gradient(net, rank, step, p, i) + m->error[rank][p][i];
}

/* ---- PowerSGD ---- */

static void orthonormal(double *x, size_t length, size_t rank)
{
    for (size_t k = 0; k < rank; k++) {
        double norm = 0;

        for (size_t j = 0; j < k; j++) {
            double along = 0;

            for (size_t i = 0; i < length; i++)
                along += x[i * rank + j] * x[i * rank + k];
            for (size_t i = 0; i < length; i++)
                x[i * rank + k] -= along * x[i * rank + j];
        }
        for (size_t i = 0; i < length; i++)
            norm += x[i * rank + k] * x[i * rank + k];
        for (size_t i = 0; i < length; i++)
            x[i * rank + k] /= sqrt(norm);
    }
}

/* left and q are products of the sum over ranks of M. */
static void define_factors(struct compressed_model *m, const struct compressed_net *net, int step,
                           size_t p, double *left)
{
    size_t rows = net->shapes[p].rows, columns = net->shapes[p].columns;
    size_t rank = (size_t)net->config.rank;

    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows * columns; i++)
            for (size_t k = 0; k < rank; k++)
                left[i / columns * rank + k] +=
                    m_of(m, net, r, step, p, i) * m->q[p][i % columns * rank + k];
    orthonormal(left, rows, rank);
    memset(m->q[p], 0, sizeof m->q[p]);
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows * columns; i++)
            for (size_t k = 0; k < rank; k++)
                m->q[p][i % columns * rank + k] +=
                    m_of(m, net, r, step, p, i) * left[i / columns * rank + k];
}

static void define_low_rank(struct compressed_model *m, const struct compressed_net *net, int step,
                            size_t p)
{
    double left[COMPRESSED_LARGEST] = {0};
    size_t columns = net->shapes[p].columns, count = compressed_count(net, p);
    size_t rank = (size_t)net->config.rank;

    define_factors(m, net, step, p, left);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rank; k++)
            m->sum[p][i] += left[i / columns * rank + k] * m->q[p][i % columns * rank + k];
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < count; i++)
            m->error[r][p][i] = m_of(m, net, r, step, p, i) - m->sum[p][i] / m->size;
    orthonormal(m->q[p], columns, rank);
}

/* ---- top-k: by sorting ---- */

struct element {
    double value;
    size_t place;
};

static int by_size(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    double sx = fabs(x->value), sy = fabs(y->value);

    if (sx > sy || sx < sy)
        return sx < sy ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static void define_largest(struct compressed_model *m, const struct compressed_net *net, int rank,
                           int step, size_t p)
{
    size_t count = compressed_count(net, p);
    size_t kept = (size_t)ceil((double)count * net->config.percent / 100);
    struct element all[COMPRESSED_LARGEST];

    for (size_t i = 0; i < count; i++) {
        m->error[rank][p][i] = m_of(m, net, rank, step, p, i);
        all[i] = (struct element){m->error[rank][p][i], i};
    }
    qsort(all, count, sizeof *all, by_size);
    for (size_t i = 0; i < kept; i++) {
        m->sum[p][all[i].place] += all[i].value;
        m->error[rank][p][all[i].place] = 0;
    }
}

/* ---- a step ---- */

static void define_plain(struct compressed_model *m, const struct compressed_net *net, int step,
                         size_t p)
{
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < compressed_count(net, p); i++)
            m->sum[p][i] += (double)compressed_gradient(net, r, step, p, i);
}

static void define(struct compressed_model *m, const struct compressed_net *net, int step)
{
    memset(m->sum, 0, sizeof m->sum);
    for (size_t p = 0; p < net->params; p++) {
        if (!compressed_runs(net, net->shapes[p].layer, step))
            continue;
        if (!net->shapes[p].is_compressed)
            define_plain(m, net, step, p);
        else if (net->config.method == DDP_COMPRESS_POWERSGD)
            define_low_rank(m, net, step, p);
        else
            for (int r = 0; r < m->size; r++)
                define_largest(m, net, r, step, p);
    }
}

/* Q as the run begins with; it has been looked at by itself. */
static void begin(struct compressed_model *m, const struct compressed *c, int size)
{
    size_t rank = (size_t)c->net->config.rank;

    memset(m, 0, sizeof *m);
    m->size = size;
    for (size_t p = 0; p < c->net->params; p++) {
        const float *q = ddp_feedback_memory(c->feedback, p).q;
        size_t columns = c->net->shapes[p].columns;

        for (size_t j = 0; q && j < columns; j++)
            for (size_t k = 0; k < rank; k++)
                m->q[p][j * rank + k] = (double)q[k * columns + j];
    }
}

static void compare(struct rank *me, const struct compressed_net *net, const char *what, int step,
                    size_t p, const float *got, const double *want)
{
    for (size_t i = 0; i < compressed_count(net, p); i++)
        if (!(fabs((double)got[i] - want[i]) <= net->tolerance)) {
            rank_wrong(me, "step %d, parameter %zu: %s [%zu] is %.7g, not %.7g", step, p, what, i,
                       (double)got[i], want[i]);
            return;
        }
}

static void compare_all(struct rank *me, const struct compressed *c,
                        const struct compressed_model *m, int step, const float *results)
{
    for (size_t p = 0; p < c->net->params; p++) {
        ddp_memory memory = ddp_feedback_memory(c->feedback, p);

        compare(me, c->net, "the sum", step, p, results + compressed_result(0, p), m->sum[p]);
        if (!memory.error != !c->net->shapes[p].is_compressed
            || !memory.q != !(memory.error && c->net->config.method == DDP_COMPRESS_POWERSGD))
            rank_wrong(me, "parameter %zu: another memory", p);
        if (memory.error)
            compare(me, c->net, "the error", step, p, results + compressed_result(1, p),
                    m->error[me->rank][p]);
    }
}

void compressed_take_steps(struct rank *me, const struct compressed_net *net, ddp_device *d,
                           const ddp_reducer_config *config, int leave_out,
                           struct compressed_model *model, float *results)
{
    enum { STEPS = 6 };
    struct compressed c;

    if (!compressed_open_reducer(&c, net, d, config, me))
        return;
    begin(model, &c, me->size);
    for (int step = 0; step < STEPS; step++) {
        compressed_backward(&c, me, step, leave_out);
        compressed_wait(&c, me, step);
        define(model, net, step);
        compressed_keep(&c, results);
        compare_all(me, &c, model, step, results);
        compressed_clear(&c);
    }
    rank_meet(me);
    compressed_close(&c);
}
