#include "core/reducer.h"

#include "base/clock.h"
#include "core/launch_order.h"
#include "core/tree.h"

#include <stdlib.h>
#include <string.h>

struct ddp_reducer {
    ddp_group *group;
    const ddp_table *table;
    ddp_reducer_config config;
    ddp_plan *plan;

    float *memory;            /* plan->count elements of the table's device: all buckets, one after
                                 the other */
    float **framework_memory; /* per parameter: the framework's own gradient memory */
    ddp_allreduce **sums;     /* per bucket */
    size_t *pending;          /* per bucket: parameters not ready in this pass */
    float *counts;            /* room for a bucket's run counts */

    /* Per layer of the network, and so indexed by layer. */
    size_t *first_param; /* layer_count + 1 entries: params[first[l] .. first[l + 1]) */
    char *ready;         /* in this pass */
    float *runs;         /* how often it ran on this rank since the last step */

    ddp_tree *tree; /* NULL: mini-batches add up in place */
    int frozen;     /* layers below it run on no rank in this pass */
    int mini_batch; /* mini-batch of the step, counted from the last syncing one */

    int sync;
    ddp_launch_order order;
    size_t launched; /* buckets of this pass, in launch order */
    size_t landed;   /* of these, how many have been waited for */
    ddp_reducer_times total;
};

static int is_trained(const ddp_reducer *r, int layer)
{
    return layer >= r->table->first_trained && r->first_param[layer] < r->first_param[layer + 1];
}

static int is_alone(const ddp_reducer *r)
{
    return ddp_group_size(r->group) == 1;
}

static size_t most_params(const ddp_plan *plan)
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
    r->sums = calloc(buckets + 1, sizeof *r->sums);
    r->pending = calloc(buckets + 1, sizeof *r->pending);
    r->first_param = calloc(layers + 1, sizeof *r->first_param);
    r->ready = calloc(layers + 1, sizeof *r->ready);
    r->runs = calloc(layers + 1, sizeof *r->runs);
    r->counts = calloc(most_params(r->plan) + 1, sizeof *r->counts);
    if (!r->framework_memory || !r->sums || !r->pending || !r->first_param || !r->ready || !r->runs
        || !r->counts)
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

static ddp_status open_sums(ddp_reducer *r, ddp_error *err)
{
    ddp_status st = DDP_OK;

    if (r->config.mini_batches)
        st = ddp_tree_open(&r->tree, r->table->device, r->memory, r->plan->count,
                           r->config.mini_batches, err);

    for (size_t b = 0; b < r->plan->bucket_count && !st; b++)
        st = ddp_allreduce_open_wire(&r->sums[b], r->group, r->table->device,
                                     r->memory + r->plan->buckets[b].offset,
                                     r->plan->buckets[b].count, r->config.wire, err);
    return st;
}

/* Move each gradient into its bucket and point the framework there. */
static void take_gradients(ddp_reducer *r)
{
    for (size_t i = 0; i < r->table->param_count; i++) {
        const ddp_param *param = &r->table->params[i];
        float *view = r->memory + r->plan->places[i].offset;

        if (param->layer < r->table->first_trained)
            continue;
        ddp_device_copy(r->table->device, view, *param->gradient_slot, param->count);
        r->framework_memory[i] = *param->gradient_slot;
        *param->gradient_slot = view;
    }
}

static void return_gradients(ddp_reducer *r)
{
    for (size_t i = 0; i < r->table->param_count; i++) {
        const ddp_param *param = &r->table->params[i];

        if (!r->framework_memory[i])
            continue;
        if (r->tree)
            ddp_tree_collect(r->tree, r->mini_batch, r->plan->places[i].offset, param->count);
        ddp_device_copy(r->table->device, r->framework_memory[i], *param->gradient_slot,
                        param->count);
        *param->gradient_slot = r->framework_memory[i];
    }
}

ddp_status ddp_reducer_open(ddp_reducer **out, ddp_group *group, const ddp_table *table,
                            const ddp_reducer_config *config, ddp_error *err)
{
    ddp_reducer *r = calloc(1, sizeof *r);
    ddp_status st;

    *out = NULL;
    if (!r)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a reducer");
    r->group = group;
    r->table = table;
    r->config = *config;
    st = ddp_plan_open(&r->plan, table, config->bucket_bytes, config->first_bucket_bytes, err);
    if (!st)
        st = allocate(r, err);
    if (!st) {
        r->order = ddp_launch_order_of(r->plan, r->config.defer_bytes);
        index_layers(r);
        st = open_sums(r, err);
    }
    if (st) {
        ddp_reducer_close(r);
        return st;
    }
    take_gradients(r);
    *out = r;
    return DDP_OK;
}

void ddp_reducer_close(ddp_reducer *r)
{
    if (!r)
        return;
    if (r->framework_memory)
        return_gradients(r);
    for (size_t b = 0; r->sums && b < r->plan->bucket_count; b++)
        ddp_allreduce_close(r->sums[b]);
    ddp_plan_close(r->plan);
    ddp_tree_close(r->tree);
    ddp_group_free_memory(r->group, r->table->device, r->memory);
    free(r->framework_memory);
    free(r->sums);
    free(r->pending);
    free(r->first_param);
    free(r->ready);
    free(r->runs);
    free(r->counts);
    free(r);
}

int ddp_reducer_is_deferred(const ddp_reducer *r, int layer)
{
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        if (layer >= r->table->first_trained && r->plan->places[i].bucket < r->order.deferred)
            return 1;
    return 0;
}

const ddp_plan *ddp_reducer_plan(const ddp_reducer *r)
{
    return r->plan;
}

const ddp_allreduce *ddp_reducer_sum(const ddp_reducer *r, size_t bucket)
{
    return r->sums[bucket];
}

void ddp_reducer_backward_begin(ddp_reducer *r, int sync)
{
    r->sync = sync != 0;
    r->launched = 0;
    r->landed = 0;
    memset(r->ready, 0, (size_t)r->table->layer_count);
    for (size_t b = 0; b < r->plan->bucket_count; b++)
        r->pending[b] = r->plan->buckets[b].param_count;
}

void ddp_reducer_freeze(ddp_reducer *r, int first)
{
    r->frozen = first;
}

/* Buckets count from 1 here, as the group's sums do. */
static ddp_status name_bucket(const ddp_reducer *r, size_t b, ddp_error *err)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    return ddp_wrap(err, "gradients of layers %d to %d (bucket %zu of %zu)", bucket->first_layer,
                    bucket->last_layer, b + 1, r->plan->bucket_count);
}

/* A bucket is about to leave: did each of its parameters' layers run here? 1 or 0, and not how
 * often, so that the sum fits into any wire. */
static void write_counts(ddp_reducer *r, size_t b)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    for (int layer = bucket->first_layer; layer <= bucket->last_layer; layer++)
        for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
            if (r->plan->places[i].bucket == b)
                r->counts[r->plan->places[i].nth] = r->runs[layer] > 0 ? 1.0F : 0.0F;
    ddp_device_set(r->table->device, r->memory + bucket->counts, r->counts, bucket->param_count);
}

/* Launch every bucket that is full and whose predecessors are launched, as far
 * as the first `limit` of the launch order. */
static ddp_status launch(ddp_reducer *r, size_t limit, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st = DDP_OK;

    while (!st && r->launched < limit
           && r->pending[ddp_launch_order_nth(r->order, r->launched)] == 0) {
        size_t b = ddp_launch_order_nth(r->order, r->launched++);

        if (!is_alone(r))
            write_counts(r, b);
        if (ddp_allreduce_start(r->sums[b], err))
            st = name_bucket(r, b, err);
        ddp_watch_record(r->config.watch, DDP_EVENT_LAUNCH, (int)b);
    }
    if (!st && r->launched > 0)
        st = ddp_group_progress(r->group, err);
    r->total.drive_ns += ddp_clock_ns() - start;
    return st;
}

/* A step may sync before its last mini-batch: what there is then makes the sum. */
static void fold(const ddp_reducer *r, size_t offset, size_t count)
{
    if (r->sync && r->mini_batch < r->config.mini_batches - 1)
        ddp_tree_collect(r->tree, r->mini_batch, offset, count);
    else
        ddp_tree_fold(r->tree, r->mini_batch, offset, count);
}

static void mark_ready(ddp_reducer *r, int layer)
{
    r->ready[layer] = 1;
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++) {
        const ddp_place *place = &r->plan->places[i];

        if (r->tree)
            fold(r, place->offset, r->table->params[i].count);
        r->pending[place->bucket]--;
    }
}

static ddp_status check_mini_batch(const ddp_reducer *r, ddp_error *err)
{
    if (!r->tree || r->sync || r->mini_batch < r->config.mini_batches - 1)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "mini-batch %d of a step of %d does not sync",
                    r->mini_batch + 1, r->config.mini_batches);
}

ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err)
{
    if (!is_trained(r, layer) || r->ready[layer])
        return DDP_OK;
    if (check_mini_batch(r, err))
        return err->code;
    mark_ready(r, layer);
    r->runs[layer] += 1;
    if (!r->sync || !r->config.overlap)
        return DDP_OK;
    return launch(r, ddp_launch_order_undeferred(r->order), err);
}

ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err)
{
    int64_t start;
    ddp_status st;

    if (r->landed == r->launched)
        return DDP_OK;
    start = ddp_clock_ns();
    st = ddp_group_progress(r->group, err);
    r->total.drive_ns += ddp_clock_ns() - start;
    return st;
}

static ddp_status refuse_unused(const ddp_reducer *r, int layer, ddp_error *err)
{
    const ddp_names *names = r->config.names ? r->config.names : &ddp_plain_names;

    return ddp_fail(err, DDP_ERR_USAGE,
                    "layer %d (%s) has parameters and did not run backward in this mini-batch; "
                    "%s 1 allows that",
                    layer, r->table->params[r->first_param[layer]].kind, names->find_unused);
}

ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err)
{
    if (check_mini_batch(r, err))
        return err->code;
    for (int layer = r->table->layer_count - 1; layer >= 0; layer--) {
        if (!is_trained(r, layer) || r->ready[layer])
            continue;
        if (!r->config.find_unused && layer >= r->frozen)
            return refuse_unused(r, layer, err);
        mark_ready(r, layer);
    }
    r->mini_batch = r->sync ? 0 : r->mini_batch + 1;
    if (!r->sync)
        return DDP_OK;
    return launch(r, ddp_launch_order_undeferred(r->order), err);
}

ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err)
{
    return launch(r, r->plan->bucket_count, err);
}

/* In launch order, in which buckets travel: a failure then names the bucket
 * that is missing, and not one behind it. */
static ddp_status fence_next(ddp_reducer *r, ddp_error *err)
{
    size_t b = ddp_launch_order_nth(r->order, r->landed);

    ddp_watch_wait(r->config.watch, (int)b, -1);
    if (ddp_allreduce_fence(r->sums[b], err))
        return name_bucket(r, b, err);
    ddp_watch_record(r->config.watch, DDP_EVENT_LAND, (int)b);
    r->landed++;
    return DDP_OK;
}

static ddp_status fence_buckets(ddp_reducer *r, int layer, ddp_error *err)
{
    size_t last = 0;

    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        if (last < ddp_launch_order_number(r->order, r->plan->places[i].bucket))
            last = ddp_launch_order_number(r->order, r->plan->places[i].bucket);
    while (r->landed <= last) {
        if (r->landed == r->launched)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "the update of layer %d wants sums that no backward pass has started",
                            layer);
        if (fence_next(r, err))
            return err->code;
    }
    return DDP_OK;
}

/* A layer that did not run here: did it elsewhere? The one case in which the program waits for
 * the sum itself, and not only what it queues on a GPU. */
static ddp_status ran_elsewhere(const ddp_reducer *r, int layer, int *used, ddp_error *err)
{
    const ddp_place *place = &r->plan->places[r->first_param[layer]];
    float count = 0;

    if (!is_alone(r)) {
        if (ddp_allreduce_wait(r->sums[place->bucket], err))
            return name_bucket(r, place->bucket, err);
        ddp_device_pull(r->table->device, &count,
                        r->memory + r->plan->buckets[place->bucket].counts + place->nth, 1);
    }
    *used = count > 0;
    return DDP_OK;
}

ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *used, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st;

    *used = layer >= r->table->first_trained || r->first_param[layer] == r->first_param[layer + 1];
    if (!is_trained(r, layer))
        return DDP_OK;
    st = fence_buckets(r, layer, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    *used = layer >= r->frozen;
    if (!st && r->runs[layer] == 0 && *used)
        st = ran_elsewhere(r, layer, used, err);
    r->runs[layer] = 0;
    return st;
}

ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *used, ddp_error *err)
{
    if (ddp_reducer_layer_fence(r, layer, used, err))
        return err->code;
    return ddp_group_settle(r->group, err);
}

ddp_status ddp_reducer_fence_all(ddp_reducer *r, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st = DDP_OK;

    while (!st && r->landed < r->launched)
        st = fence_next(r, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    return st;
}

int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket)
{
    for (size_t k = 0; k < r->landed; k++) {
        *bucket = ddp_launch_order_nth(r->order, k);
        if (!ddp_allreduce_finite(r->sums[*bucket]))
            return 0;
    }
    return 1;
}

void ddp_reducer_drop(ddp_reducer *r)
{
    ddp_device_zero(r->table->device, r->memory, r->plan->count);
    for (int layer = 0; layer < r->table->layer_count; layer++)
        r->runs[layer] = 0;
}

int ddp_reducer_done(const ddp_reducer *r)
{
    for (size_t k = 0; k < r->launched; k++)
        if (!ddp_allreduce_done(r->sums[ddp_launch_order_nth(r->order, k)]))
            return 0;
    return r->launched == r->plan->bucket_count;
}

size_t ddp_reducer_tree_bytes(const ddp_reducer *r)
{
    return r->tree ? ddp_tree_bytes(r->tree) : 0;
}

ddp_reducer_times ddp_reducer_total_times(const ddp_reducer *r)
{
    return r->total;
}
