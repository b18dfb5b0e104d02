#include "core/batchnorm_stats.h"

#include "core/tree_sum.h"

#include <stdlib.h>

/* The buffers hold: */
enum content {
    VALUES, /* the running statistics */
    PARTS,  /* what this rank's mini-batches add, as far as it is not in the tree */
    SUM     /* that of all ranks, or on its way to it */
};

struct ddp_batchnorm_stats {
    const ddp_param_table *table;
    ddp_buffers *buffers;
    size_t count;  /* of their elements */
    char *dropped; /* per buffer: no mini-batch of this step adds to it */
    float *kept;   /* the running statistics when they were last kept; NULL: never */
    ddp_batchnorm_stats_mode mode;
    int first;          /* this rank's first mini-batch of a step */
    int behind;         /* the mini-batches of a step that come behind this rank's: higher ranks' */
    int number;         /* mini-batches of a step, all ranks together */
    ddp_tree_sum *tree; /* NULL but with DDP_STATISTICS_EXACT, and so is what follows */
    float *values;      /* the running statistics after the last step, on the table's device */
    enum content content;
};

static ddp_status prepare(ddp_batchnorm_stats *s, int mini_batches, ddp_error *err)
{
    if (ddp_device_alloc(s->table->device, &s->values, s->count, err))
        return ddp_wrap(err, "BatchNorm statistics");
    ddp_device_copy(s->table->device, s->values, ddp_buffers_values(s->buffers), s->count);
    if (ddp_tree_sum_open(&s->tree, s->table->device, ddp_buffers_values(s->buffers), s->count,
                          mini_batches, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return DDP_OK;
}

ddp_status ddp_batchnorm_stats_open(ddp_batchnorm_stats **out, ddp_group *group,
                                    const ddp_param_table *table, ddp_batchnorm_stats_mode mode,
                                    int mini_batches, int root, ddp_error *err)
{
    ddp_batchnorm_stats *s = calloc(1, sizeof *s);
    int rank = ddp_group_rank(group), size = ddp_group_size(group);
    ddp_status st;

    *out = NULL;
    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for statistics");
    s->table = table;
    s->mode = mode;
    s->first = rank * mini_batches;
    s->behind = (size - 1 - rank) * mini_batches;
    s->number = size * mini_batches;
    s->dropped = calloc(table->buffer_count + 1, 1);
    if (!s->dropped) {
        free(s);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for statistics");
    }
    st = ddp_buffers_open(&s->buffers, group, table, err);
    if (!st)
        st = ddp_buffers_start_copy(s->buffers, root, err);
    if (!st)
        st = ddp_buffers_fence(s->buffers, err);
    if (!st)
        s->count = ddp_buffers_bytes(s->buffers) / sizeof(float);
    if (!st && mode == DDP_STATISTICS_EXACT)
        st = prepare(s, mini_batches, err);
    if (st) {
        ddp_batchnorm_stats_close(s);
        return st;
    }
    *out = s;
    return DDP_OK;
}

void ddp_batchnorm_stats_close(ddp_batchnorm_stats *s)
{
    if (!s)
        return;
    ddp_tree_sum_close(s->tree);
    ddp_buffers_close(s->buffers);
    ddp_device_free(s->table->device, s->values);
    ddp_device_free(s->table->device, s->kept);
    free(s->dropped);
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
static void compose(ddp_batchnorm_stats *s)
{
    const float *sum = ddp_buffers_values(s->buffers);
    size_t at = 0;

    for (size_t i = 0; i < s->table->buffer_count; i++) {
        size_t count = s->table->buffers[i].count;

        if (!s->dropped[i])
            ddp_device_compose(s->table->device, s->values + at,
                               power(s->table->buffers[i].keep, s->number), sum + at, count);
        at += count;
    }
}

static ddp_status finish(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (ddp_buffers_fence(s->buffers, err))
        return err->code;
    if (s->content == SUM) {
        compose(s);
        s->content = PARTS;
    }
    return DDP_OK;
}

ddp_status ddp_batchnorm_stats_begin_forward(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (finish(s, err))
        return err->code;
    if (!s->tree)
        return DDP_OK;
    ddp_device_zero(s->table->device, ddp_buffers_values(s->buffers), s->count);
    s->content = PARTS;
    return DDP_OK;
}

void ddp_batchnorm_stats_begin_step(ddp_batchnorm_stats *s)
{
    if (s->mode == DDP_STATISTICS_SUMMED && s->first > 0)
        ddp_device_zero(s->table->device, ddp_buffers_values(s->buffers), s->count);
}

void ddp_batchnorm_stats_drop_layers(ddp_batchnorm_stats *s, const char *dropped)
{
    for (size_t i = 0; i < s->table->buffer_count; i++)
        s->dropped[i] = dropped[s->table->buffers[i].layer];
}

void ddp_batchnorm_stats_fold_mini_batch(ddp_batchnorm_stats *s, int mini_batch)
{
    int later = s->number - 1 - (s->first + mini_batch); /* mini-batches of this step */
    float *added = ddp_buffers_values(s->buffers);
    size_t at = 0;

    if (!s->tree)
        return;
    for (size_t i = 0; i < s->table->buffer_count; i++) {
        size_t count = s->table->buffers[i].count;

        ddp_device_scale(s->table->device, added + at, power(s->table->buffers[i].keep, later),
                         count);
        at += count;
    }
    ddp_tree_sum_fold(s->tree, mini_batch, 0, s->count);
}

/* Scale this rank's values to what one process would keep of them behind the other ranks'
 * mini-batches. Buffers that lie side by side are scaled at once. */
static void weigh(ddp_batchnorm_stats *s)
{
    const ddp_buffer *buffers = s->table->buffers;
    float *at = ddp_buffers_values(s->buffers);
    size_t next;

    if (s->behind == 0)
        return;
    for (size_t i = 0; i < s->table->buffer_count; i = next) {
        size_t count = 0;

        for (next = i; next < s->table->buffer_count && buffers[next].keep == buffers[i].keep
                       && s->dropped[next] == s->dropped[i];
             next++)
            count += buffers[next].count;
        if (!s->dropped[i])
            ddp_device_scale(s->table->device, at, power(buffers[i].keep, s->behind), count);
        at += count;
    }
}

ddp_status ddp_batchnorm_stats_start_sum(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (s->mode == DDP_STATISTICS_COPIED)
        return ddp_buffers_start_copy(s->buffers, 0, err);
    if (s->mode == DDP_STATISTICS_SUMMED)
        weigh(s);
    else
        s->content = SUM;
    return ddp_buffers_start_sum(s->buffers, err);
}

ddp_status ddp_batchnorm_stats_fence(ddp_batchnorm_stats *s, ddp_error *err)
{
    return ddp_buffers_fence(s->buffers, err);
}

ddp_status ddp_batchnorm_stats_settle(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (finish(s, err))
        return err->code;
    if (s->content != VALUES)
        ddp_device_copy(s->table->device, ddp_buffers_values(s->buffers), s->values, s->count);
    s->content = VALUES;
    return DDP_OK;
}

int ddp_batchnorm_stats_finite(const ddp_batchnorm_stats *s)
{
    return ddp_buffers_finite(s->buffers);
}

const float *ddp_batchnorm_stats_agreed_values(const ddp_batchnorm_stats *s)
{
    return s->tree ? s->values : NULL;
}

/* Where the running statistics are between begin and the next settle. */
static float *running(const ddp_batchnorm_stats *s)
{
    return s->tree ? s->values : ddp_buffers_values(s->buffers);
}

ddp_status ddp_batchnorm_stats_keep_values(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (!s->kept && ddp_device_alloc(s->table->device, &s->kept, s->count, err))
        return ddp_wrap(err, "BatchNorm statistics");
    ddp_device_copy(s->table->device, s->kept, running(s), s->count);
    return DDP_OK;
}

ddp_status ddp_batchnorm_stats_restore_values(ddp_batchnorm_stats *s, ddp_error *err)
{
    if (finish(s, err))
        return err->code;
    ddp_device_copy(s->table->device, running(s), s->kept, s->count);
    return DDP_OK;
}
