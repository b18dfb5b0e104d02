#include "core/statistics.h"

#include "core/tree.h"

#include <stdlib.h>
#include <string.h>

/* What the buffers hold. */
enum content {
    VALUES, /* the running statistics */
    PARTS,  /* what this rank's mini-batches add, as far as it is not in the tree */
    SUM     /* that of all ranks, or on its way to it */
};

struct ddp_statistics {
    const ddp_table *table;
    ddp_buffers *buffers;
    ddp_tree *tree; /* NULL: they are rank 0's, and none of what follows is used */
    float *values;  /* the running statistics after the last step */
    size_t count;
    int first;  /* this rank's first mini-batch of a step */
    int number; /* mini-batches of a step, all ranks together */
    enum content content;
};

static ddp_status prepare(ddp_statistics *s, const ddp_group *group, int leaves, ddp_error *err)
{
    size_t bytes = ddp_buffers_bytes(s->buffers);

    s->count = bytes / sizeof(float);
    s->first = ddp_group_rank(group) * leaves;
    s->number = ddp_group_size(group) * leaves;
    s->values = malloc(bytes + 1);
    if (!s->values)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes of statistics", bytes);
    memcpy(s->values, ddp_buffers_values(s->buffers), bytes);
    if (ddp_tree_open(&s->tree, ddp_buffers_values(s->buffers), s->count, leaves, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return DDP_OK;
}

ddp_status ddp_statistics_open(ddp_statistics **out, ddp_group *group, const ddp_table *table,
                               int leaves, ddp_error *err)
{
    ddp_statistics *s = calloc(1, sizeof *s);
    ddp_status st;

    *out = NULL;
    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for statistics");
    s->table = table;
    st = ddp_buffers_open(&s->buffers, group, table, err);
    if (!st)
        st = ddp_buffers_start(s->buffers, err);
    if (!st)
        st = ddp_buffers_wait(s->buffers, err);
    if (!st && leaves)
        st = prepare(s, group, leaves, err);
    if (st) {
        ddp_statistics_close(s);
        return st;
    }
    *out = s;
    return DDP_OK;
}

void ddp_statistics_close(ddp_statistics *s)
{
    if (!s)
        return;
    ddp_tree_close(s->tree);
    ddp_buffers_close(s->buffers);
    free(s->values);
    free(s);
}

/* By multiplication: pow may differ between the C libraries of two hosts. */
static double power(double x, int n)
{
    double y = 1;

    for (; n > 0; n /= 2, x *= x)
        if (n & 1)
            y *= x;
    return y;
}

/* A sum has arrived: it and what is kept of the old values are the new ones. */
static void compose(ddp_statistics *s)
{
    const float *sum = ddp_buffers_values(s->buffers);
    size_t at = 0;

    for (size_t i = 0; i < s->table->buffer_count; i++) {
        double keep = power(s->table->buffers[i].keep, s->number);

        for (size_t end = at + s->table->buffers[i].count; at < end; at++)
            s->values[at] = (float)(keep * (double)s->values[at] + (double)sum[at]);
    }
}

static ddp_status finish(ddp_statistics *s, ddp_error *err)
{
    if (ddp_buffers_wait(s->buffers, err))
        return err->code;
    if (s->content == SUM) {
        compose(s);
        s->content = PARTS;
    }
    return DDP_OK;
}

ddp_status ddp_statistics_begin(ddp_statistics *s, ddp_error *err)
{
    if (finish(s, err))
        return err->code;
    if (!s->tree)
        return DDP_OK;
    memset(ddp_buffers_values(s->buffers), 0, s->count * sizeof(float));
    s->content = PARTS;
    return DDP_OK;
}

void ddp_statistics_fold(ddp_statistics *s, int leaf)
{
    int later = s->number - 1 - (s->first + leaf); /* mini-batches of this step */
    float *added = ddp_buffers_values(s->buffers);
    size_t at = 0;

    if (!s->tree)
        return;
    for (size_t i = 0; i < s->table->buffer_count; i++) {
        double keep = power(s->table->buffers[i].keep, later);

        for (size_t end = at + s->table->buffers[i].count; at < end; at++)
            added[at] = (float)(keep * (double)added[at]);
    }
    ddp_tree_fold(s->tree, leaf, 0, s->count);
}

ddp_status ddp_statistics_start(ddp_statistics *s, ddp_error *err)
{
    if (!s->tree)
        return ddp_buffers_start(s->buffers, err);
    s->content = SUM;
    return ddp_buffers_sum(s->buffers, err);
}

ddp_status ddp_statistics_settle(ddp_statistics *s, ddp_error *err)
{
    if (finish(s, err))
        return err->code;
    if (s->content != VALUES)
        memcpy(ddp_buffers_values(s->buffers), s->values, s->count * sizeof(float));
    s->content = VALUES;
    return DDP_OK;
}
