#include "rank_sum.h"

#include "../reference_sum.h"
#include "arrays.h"

#include <stdlib.h>

enum { MOST_LEVELS = 8 };

/* Sums wait here, the earlier ranks' first; sums[i] is of ranks[i] ranks, a power
 * of 2. Two of the same size become one. */
struct rank_sum {
    const ddp_param_table *table;
    ddp_wire wire;
    size_t count;
    int depth;
    float *sums[MOST_LEVELS];
    int ranks[MOST_LEVELS];
};

rank_sum *rank_sum_open(const ddp_param_table *table, ddp_wire wire)
{
    rank_sum *t = calloc(1, sizeof *t);

    if (!t)
        abort();
    t->table = table;
    t->wire = wire;
    t->count = array_offset(table, table->param_count);
    return t;
}

void rank_sum_close(rank_sum *t)
{
    if (!t)
        return;
    for (int i = 0; i < MOST_LEVELS; i++)
        free(t->sums[i]);
    free(t);
}

static void merge_last_two(rank_sum *t)
{
    float *a = t->sums[t->depth - 2];
    const float *b = t->sums[t->depth - 1];

    for (size_t i = 0; i < t->count; i++)
        a[i] = reference_rounded(t->wire, a[i] + b[i]);
    t->ranks[t->depth - 2] += t->ranks[t->depth - 1];
    t->depth--;
}

void rank_sum_add_rank(rank_sum *t)
{
    float **sum = &t->sums[t->depth];

    if (*sum) /* fresh memory of this size costs more than the copy */
        arrays_read(t->table, GRADIENTS, *sum);
    else
        *sum = arrays_copy(t->table, GRADIENTS);
    for (size_t i = 0; i < t->count; i++)
        (*sum)[i] = reference_rounded(t->wire, (*sum)[i]);
    for (size_t i = 0; i < t->table->param_count; i++)
        ddp_device_zero(t->table->device, *t->table->params[i].gradient_slot,
                        t->table->params[i].count);
    t->ranks[t->depth++] = 1;
    while (t->depth > 1 && t->ranks[t->depth - 1] == t->ranks[t->depth - 2])
        merge_last_two(t);
}

void rank_sum_finish(rank_sum *t)
{
    while (t->depth > 1)
        merge_last_two(t);
    arrays_restore(t->table, GRADIENTS, t->sums[0]);
    t->depth = 0;
}
