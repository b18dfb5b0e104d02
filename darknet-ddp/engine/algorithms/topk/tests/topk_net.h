/* The network on which top-k is tested (unit/compressed.h), and the right results: top-k by its
 * definition, by sorting. */
#ifndef DDP_ALGORITHMS_TOPK_TESTS_TOPK_NET_H
#define DDP_ALGORITHMS_TOPK_TESTS_TOPK_NET_H

#include "unit/compressed.h"

#include <math.h>
#include <stdlib.h>

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
    size_t kept = (size_t)ceil((double)count * net->options.compress.value / 100);
    struct element all[COMPRESSED_LARGEST];

    for (size_t i = 0; i < count; i++) {
        m->error[rank][p][i] = compressed_m(m, net, rank, step, p, i);
        all[i] = (struct element){m->error[rank][p][i], i};
    }
    qsort(all, count, sizeof *all, by_size);
    for (size_t i = 0; i < kept; i++) {
        m->sum[p][all[i].place] += all[i].value;
        m->error[rank][p][all[i].place] = 0;
    }
}

static void define_all_largest(struct compressed_model *m, const struct compressed_net *net,
                               int step, size_t p)
{
    for (int r = 0; r < m->size; r++)
        define_largest(m, net, r, step, p);
}

static const struct compressed_net compressed_top_k = {
    .options = {.compress = {DDP_COMPRESS_topk, 3}},
    .layers = 4,
    .params = 4,
    .shapes = {{0, 24, 90, 1}, {1, 40, 100, 1}, {2, 16, 16, 1}, {3, 1, 24, 0}},
    .unused = 1,
    .whole = 1,
    .define = define_all_largest,
};

#endif
