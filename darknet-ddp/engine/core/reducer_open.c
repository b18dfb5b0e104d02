#include "comm/group_gpu.h"
#include "comm/work.h"
#include "core/reducer_state.h"

#include <stdlib.h>

static size_t most_params(const ddp_bucket_plan *plan)
{
    size_t most = 0;

    for (size_t b = 0; b < plan->bucket_count; b++)
        if (most < plan->buckets[b].param_count)
            most = plan->buckets[b].param_count;
    return most;
}

static ddp_status allocate(ddp_reducer *r, ddp_error *err)
{
    size_t layers = (size_t)r->table->layer_count;
    size_t params = r->table->param_count;
    size_t buckets = r->plan->bucket_count;
    r->framework_memory = calloc(params + 1, sizeof *r->framework_memory);
    r->pending = calloc(buckets + 1, sizeof *r->pending);
    r->first_param = calloc(layers + 1, sizeof *r->first_param);
    r->ready = calloc(layers + 1, sizeof *r->ready);
    r->ran = calloc(layers + 1, sizeof *r->ran);
    r->dropped = calloc(layers + 1, sizeof *r->dropped);
    r->counts = calloc(most_params(r->plan) + 1, sizeof *r->counts);
    if (!r->framework_memory || !r->pending || !r->first_param || !r->ready || !r->ran
        || !r->dropped || !r->counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a reducer of %zu buckets", buckets);
    if (ddp_group_alloc_memory(r->group, r->table->device, &r->memory, r->plan->count, err))
        return ddp_wrap(err, "gradient buckets");
    return DDP_OK;
}

/* params are sorted by layer: remember where each layer's begin. */
static void index_layers(ddp_reducer *r)
{
    size_t i = 0;

    for (int layer = 0; layer <= r->table->layer_count; layer++) {
        while (i < r->table->param_count && r->table->params[i].layer < layer)
            i++;
        r->first_param[layer] = i;
    }
}

/* With config.sharded a sum is of gradients without run counts. */
static ddp_status open_sum(ddp_reducer *r, size_t i, ddp_error *err)
{
    const ddp_piece *piece = &r->pieces[i];
    size_t gradients = r->plan->buckets[piece->bucket].counts - piece->offset;

    return ddp_allreduce_open_on(&r->sums[i], r->group, r->table->device, r->memory + piece->offset,
                                 r->config.sharded ? gradients : piece->count, r->config.wire, err);
}

static ddp_status open_sums(ddp_reducer *r, ddp_error *err)
{
    ddp_status st = DDP_OK;

    r->sums = calloc(r->piece_count + 1, sizeof(ddp_work *));
    if (!r->sums)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu sums", r->piece_count);
    if (!st && r->config.mini_batches)
        st = ddp_tree_sum_open(&r->tree, r->table->device, r->memory, r->plan->count,
                               r->config.mini_batches, err);
    if (!st && r->config.codec && !ddp_reducer_is_alone(r))
        st = ddp_encoded_sums_open(&r->encoded_sums, r->group, r->table, r->plan, r->memory,
                                   r->config.codec, r->config.codec_self, err);
    for (size_t i = 0; i < r->piece_count && !st; i++)
        st = open_sum(r, i, err);
    r->encoded = r->encoded_sums;
    r->encodes_next = 1;
    return st;
}

ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_param_table *table,
                            const ddp_reducer_config *config, ddp_error *err)
{
    ddp_reducer *r;
    ddp_status st;

    *out = NULL;
    if ((config->sharded || config->codec)
        && (config->defer_bytes || config->piece_bytes || config->priority))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "sums in halves, and of encoded numbers, start in the plan's order");
    r = calloc(1, sizeof *r);
    if (!r)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a reducer");
    r->group = group;
    r->table = table;
    r->config = *config;
    r->config.sharded = config->sharded && ddp_group_size(group) > 1;
    st = ddp_bucket_plan_open(&r->plan, table, config->bucket_bytes, config->first_bucket_bytes,
                              err);
    if (!st)
        st = ddp_reducer_open_pieces(r, err);
    if (!st)
        st = allocate(r, err);
    if (!st) {
        index_layers(r);
        st = open_sums(r, err);
    }
    if (!st && r->config.sharded)
        st = ddp_reducer_open_sharded(r, err);
    if (st) {
        ddp_reducer_close(r);
        return st;
    }
    ddp_reducer_take_gradients(r);
    *out = r;
    return DDP_OK;
}

static void close_sums(ddp_reducer *r)
{
    for (size_t i = 0; r->sums && i < r->piece_count; i++)
        ddp_work_close(r->sums[i]);
    free(r->sums);
}

void ddp_reducer_close(ddp_reducer *r)
{
    if (!r)
        return;
    if (r->framework_memory)
        ddp_reducer_return_gradients(r);
    ddp_reducer_close_sharded(r);
    close_sums(r);
    ddp_reducer_close_pieces(r);
    ddp_encoded_sums_close(r->encoded_sums);
    ddp_bucket_plan_close(r->plan);
    ddp_tree_sum_close(r->tree);
    ddp_group_free_memory(r->group, r->table->device, r->memory);
    free(r->framework_memory);
    free(r->pending);
    free(r->first_param);
    free(r->ready);
    free(r->ran);
    free(r->dropped);
    free(r->counts);
    free(r);
}

const ddp_bucket_plan *ddp_reducer_plan(const ddp_reducer *r)
{
    return r->plan;
}

float *ddp_reducer_memory(const ddp_reducer *r)
{
    return r->memory;
}

ddp_work *const *ddp_reducer_sharded_sums(const ddp_reducer *r)
{
    return r->config.sharded ? r->sums : NULL;
}

size_t ddp_reducer_bucket_floats(const ddp_reducer *r, size_t bucket)
{
    return r->encoded ? ddp_encoded_sums_floats(r->encoded, bucket)
                      : r->plan->buckets[bucket].count;
}

size_t ddp_reducer_floats(const ddp_reducer *r)
{
    size_t count = 0;

    for (size_t b = 0; b < r->plan->bucket_count; b++)
        count += ddp_reducer_bucket_floats(r, b);
    return count;
}

size_t ddp_reducer_tree_bytes(const ddp_reducer *r)
{
    return r->tree ? ddp_tree_sum_bytes(r->tree) : 0;
}

ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r)
{
    return r->total;
}
