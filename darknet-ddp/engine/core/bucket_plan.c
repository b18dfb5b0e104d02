#include "core/bucket_plan.h"

#include <stdlib.h>

static int block_of(const ddp_param_table *table, size_t i)
{
    return table->block ? table->block[table->params[i].layer] : 0;
}

/* Elements that so many take, with the gap behind them. */
static size_t room(size_t count)
{
    return (count + DDP_PLAN_ALIGN - 1) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;
}

/* Put params[i] at the end of the open bucket; open one if none is. */
static void place(ddp_bucket_plan *plan, const ddp_param_table *table, size_t i, int *open)
{
    const ddp_param *param = &table->params[i];
    ddp_bucket *bucket;

    if (!*open) {
        bucket = &plan->buckets[plan->bucket_count++];
        *bucket = (ddp_bucket){.offset = plan->count, .last_layer = param->layer};
        *open = 1;
    }
    bucket = &plan->buckets[plan->bucket_count - 1];
    plan->places[i] = (ddp_place){
        .bucket = plan->bucket_count - 1, .offset = plan->count, .nth = bucket->param_count};
    bucket->count += room(param->count);
    bucket->first_layer = param->layer;
    bucket->param_count++;
    plan->count += room(param->count);
}

/* The open bucket is full: its run counts follow. */
static void close_bucket(ddp_bucket_plan *plan, int *open)
{
    ddp_bucket *bucket;

    if (!*open)
        return;
    bucket = &plan->buckets[plan->bucket_count - 1];
    bucket->counts = plan->count;
    bucket->count += room(bucket->param_count);
    plan->count += room(bucket->param_count);
    *open = 0;
}

ddp_status ddp_bucket_plan_open(ddp_bucket_plan **out, const ddp_param_table *table,
                                size_t bucket_bytes, size_t first_bucket_bytes, ddp_error *err)
{
    ddp_bucket_plan *plan = calloc(1, sizeof *plan);
    int open = 0;

    *out = NULL;
    if (plan) {
        /* At most one bucket a parameter; one more, so that 0 is no special case. */
        plan->buckets = calloc(table->param_count + 1, sizeof *plan->buckets);
        plan->places = calloc(table->param_count + 1, sizeof *plan->places);
    }
    if (!plan || !plan->buckets || !plan->places) {
        ddp_bucket_plan_close(plan);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a plan of %zu parameters",
                        table->param_count);
    }
    for (size_t i = table->param_count; i-- > 0;) {
        size_t capacity;

        if (table->params[i].layer < table->first_trained)
            continue;
        if (i + 1 < table->param_count && block_of(table, i) != block_of(table, i + 1))
            close_bucket(plan, &open);
        place(plan, table, i, &open);
        capacity = plan->bucket_count == 1 ? first_bucket_bytes : bucket_bytes;
        if (plan->buckets[plan->bucket_count - 1].count * sizeof(float) >= capacity)
            close_bucket(plan, &open);
    }
    close_bucket(plan, &open);
    *out = plan;
    return DDP_OK;
}

void ddp_bucket_plan_close(ddp_bucket_plan *plan)
{
    if (!plan)
        return;
    free(plan->buckets);
    free(plan->places);
    free(plan);
}
