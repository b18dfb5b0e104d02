/* Computes PowerSGD by its definition, in double precision, for a network of tests
 * (unit/compressed.h). */
#ifndef DDP_ALGORITHMS_POWERSGD_TESTS_POWERSGD_NET_H
#define DDP_ALGORITHMS_POWERSGD_TESTS_POWERSGD_NET_H

#include "unit/compressed.h"

#include <math.h>
#include <string.h>

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

/* Set left to the orthonormal columns of M Q, and then Q to M^T left, for parameter number p. M is
 * the sum over ranks of what is compressed. Q is m->q[p].
 *   left   element [row][k] is left[row * rank + k]; all zero before the call */
static void define_factors(struct compressed_model *m, const struct compressed_net *net, int step,
                           size_t p, double *left)
{
    size_t rows = net->shapes[p].rows, columns = net->shapes[p].columns;
    size_t rank = (size_t)net->options.compress.value;

    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows * columns; i++)
            for (size_t k = 0; k < rank; k++)
                left[i / columns * rank + k] +=
                    compressed_m(m, net, r, step, p, i) * m->q[p][i % columns * rank + k];
    orthonormal(left, rows, rank);
    memset(m->q[p], 0, sizeof m->q[p]);
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < rows * columns; i++)
            for (size_t k = 0; k < rank; k++)
                m->q[p][i % columns * rank + k] +=
                    compressed_m(m, net, r, step, p, i) * left[i / columns * rank + k];
}

static void define_low_rank(struct compressed_model *m, const struct compressed_net *net, int step,
                            size_t p)
{
    double left[COMPRESSED_LARGEST] = {0};
    size_t columns = net->shapes[p].columns, count = compressed_count(net, p);
    size_t rank = (size_t)net->options.compress.value;

    define_factors(m, net, step, p, left);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rank; k++)
            m->sum[p][i] += left[i / columns * rank + k] * m->q[p][i % columns * rank + k];
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < count; i++)
            m->error[r][p][i] = compressed_m(m, net, r, step, p, i) - m->sum[p][i] / m->size;
    orthonormal(m->q[p], columns, rank);
}

/* Set the model's Q to the Q with which the run begins. (Another test checks that Q.) */
static void begin_with_q(struct compressed_model *m, const struct compressed *c)
{
    size_t rank = (size_t)c->net->options.compress.value;

    for (size_t p = 0; p < c->net->params; p++) {
        const float *q = compressed_memory(c, p).q;
        size_t columns = c->net->shapes[p].columns;

        for (size_t j = 0; q && j < columns; j++)
            for (size_t k = 0; k < rank; k++)
                m->q[p][j * rank + k] = (double)q[k * columns + j];
    }
}

/* A network with matrices that are compressed, one that is too small for that, and vectors. */
static const struct compressed_net compressed_powersgd = {
    .options = {.compress = {DDP_COMPRESS_powersgd, 2}},
    .layers = 6,
    .params = 7,
    .shapes = {{0, 24, 90, 1},
               {0, 1, 24, 0},
               {2, 5, 9, 0},
               {3, 40, 100, 1},
               {4, 33, 17, 1},
               {4, 0, 33, 0},
               {5, 16, 16, 1}},
    .unused = 4,
    .tolerance = 2e-4,
    .begin = begin_with_q,
    .define = define_low_rank,
};

#endif
