/* The way of a layer's gradients, from their place in a bucket to their sum in that place, in the
 * order of this file. core/reducer.h says what a caller must know.
 *
 * take_gradients: once. Make the framework's gradient pointers point into buckets, where the
 * backward pass then writes and the update reads.
 *
 * backward_begin: reset for a new pass. No layer is ready, and no sum has been started. Only a pass
 * that syncs starts sums.
 *
 * launch_full_buckets: start the sums of each bucket that is full (all its layers are ready) and
 * whose predecessors in the launch order have been started. The launch order is the plan's, except
 * for buckets that are late or deferred (core/launch_order.h): launch_deferred starts these after
 * the pass.
 *
 * layer_ready: a layer's gradients are final. Its parameters are counted off their buckets. With
 * config.overlap, full buckets are launched.
 *
 * progress: many messages move only inside calls, so Darknet calls this often while it computes.
 *
 * backward_end: layers that did not run count as ready, so all buckets are full. Those that are
 * neither late nor deferred are launched.
 *
 * layer_fence: before a layer's update. It fences sums in the launch order, up to the last one that
 * has a part of the layer. Without NCCL it blocks until they are there; with NCCL the GPU waits.
 *
 * A sum is started by ddp_work_start and fenced by ddp_work_fence (comm/work.c). Three options
 * change the way. With r->encoded, core/encoded_sums.c sums numbers that an algorithm makes of a
 * bucket's gradients. With config.sharded, each sum is made in two halves (reducer_sharded.c). With
 * r->tree, mini-batches are added up in a tree (core/tree_sum.h). */
#include "base/clock.h"
#include "comm/group_gpu.h"
#include "core/reducer_state.h"

#include <string.h>

/* ---- memory ---- */

void ddp_reducer_take_gradients(ddp_reducer *r)
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

void ddp_reducer_return_gradients(ddp_reducer *r)
{
    for (size_t i = 0; i < r->table->param_count; i++) {
        const ddp_param *param = &r->table->params[i];

        if (!r->framework_memory[i])
            continue;
        if (r->tree)
            ddp_tree_sum_collect(r->tree, r->mini_batch, r->plan->places[i].offset, param->count);
        ddp_device_copy(r->table->device, r->framework_memory[i], *param->gradient_slot,
                        param->count);
        *param->gradient_slot = r->framework_memory[i];
    }
}

/* ---- a pass begins ---- */

void ddp_reducer_backward_begin(ddp_reducer *r, int sync)
{
    r->sync = sync != 0;
    r->limit = 0;
    r->launched = 0;
    r->landed = 0;
    r->sent = 0;
    r->received = 0;
    r->encoded = r->encodes_next ? r->encoded_sums : NULL;
    if (r->sync && r->encoded)
        ddp_encoded_sums_begin_pass(r->encoded);
    if (r->sync)
        ddp_reducer_begin_order(r);
    memset(r->ready, 0, (size_t)r->table->layer_count);
    for (size_t b = 0; b < r->plan->bucket_count; b++)
        r->pending[b] = r->plan->buckets[b].param_count;
}

/* ---- launching ---- */

static ddp_status start_sum(ddp_reducer *r, size_t piece, ddp_error *err)
{
    if (r->encoded)
        return ddp_encoded_sums_start_first(r->encoded, piece, err);
    if (r->config.sharded)
        return ddp_work_start_phase(r->sums[piece], DDP_REDUCE_SCATTER, err);
    return ddp_work_start(r->sums[piece], err);
}

/* The next one of the launch order is full, and it is its turn. */
static ddp_status launch_next(ddp_reducer *r, ddp_error *err)
{
    size_t piece = ddp_launch_order_nth(r->order, r->launched++), b = r->pieces[piece].bucket;
    ddp_status st;

    if (ddp_reducer_is_bucket_dropped(r, b)) {
        if (r->encoded)
            ddp_encoded_sums_skip_bucket(r->encoded, piece);
        return DDP_OK;
    }
    if (piece == ddp_reducer_last_piece(r, b))
        ddp_reducer_write_counts(r, b);
    st = start_sum(r, piece, err);
    ddp_watch_record(r->config.watch, DDP_EVENT_LAUNCH, (int)b);
    return st ? ddp_reducer_wrap_error(r, b, err) : DDP_OK;
}

static int may_launch(const ddp_reducer *r)
{
    return r->launched < r->limit
           && r->pending[r->pieces[ddp_launch_order_nth(r->order, r->launched)].bucket] == 0
           && (!r->encoded || ddp_encoded_sums_may_start_first(r->encoded));
}

/* A second sum of a bucket; waits for what it is made of. */
static ddp_status start_second_sum(ddp_reducer *r, ddp_error *err)
{
    size_t b = ddp_encoded_sums_next_second(r->encoded);

    return ddp_encoded_sums_start_second(r->encoded, err) ? ddp_reducer_wrap_error(r, b, err)
                                                          : DDP_OK;
}

/* Launch every piece of a bucket that is full and whose predecessors are launched, as far as
 * r->limit. */
static ddp_status launch_full_buckets(ddp_reducer *r, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st = DDP_OK;

    while (!st) {
        if (may_launch(r))
            st = launch_next(r, err);
        else if (r->encoded && ddp_encoded_sums_may_start_second(r->encoded))
            st = start_second_sum(r, err);
        else
            break;
    }
    if (!st && r->launched > 0)
        st = ddp_group_progress(r->group, err);
    r->total.drive_ns += ddp_clock_ns() - start;
    return st;
}

/* ---- layers are ready ---- */

static void mark_ready(ddp_reducer *r, int layer)
{
    r->ready[layer] = 1;
    if (r->tree)
        ddp_reducer_fold_layer(r, layer);
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        r->pending[r->plan->places[i].bucket]--;
}

ddp_status ddp_reducer_layer_ready(ddp_reducer *r, int layer, ddp_error *err)
{
    if (!ddp_reducer_trains(r, layer) || r->ready[layer])
        return DDP_OK;
    if (ddp_reducer_check_mini_batch(r, err))
        return err->code;
    mark_ready(r, layer);
    r->ran[layer] = 1;
    if (!r->sync || !r->config.overlap)
        return DDP_OK;
    r->limit = ddp_launch_order_early(r->order);
    return launch_full_buckets(r, err);
}

ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err)
{
    if (r->landed == r->launched && r->received == r->sent)
        return DDP_OK;
    return launch_full_buckets(r, err); /* a sum may have arrived that others wait for */
}

void ddp_reducer_drop_layers(ddp_reducer *r, const char *dropped)
{
    for (int layer = 0; layer < r->table->layer_count; layer++) {
        int so_far = r->mini_batch == 0 || r->dropped[layer];

        r->dropped[layer] = (char)(dropped[layer] && so_far);
        if (dropped[layer] && ddp_reducer_trains(r, layer))
            mark_ready(r, layer);
    }
}

/* ---- the pass is over ---- */

/* Second sums that wait for each other. */
static ddp_status start_second_sums(ddp_reducer *r, ddp_error *err)
{
    ddp_status st = DDP_OK;

    while (!st && ddp_encoded_sums_next_second(r->encoded) < r->plan->bucket_count) {
        int64_t start = ddp_clock_ns();

        ddp_watch_wait(r->config.watch, (int)ddp_encoded_sums_next_second(r->encoded));
        st = start_second_sum(r, err);
        r->total.wait_ns += ddp_clock_ns() - start;
        if (!st)
            st = launch_full_buckets(r, err);
    }
    return st;
}

ddp_status ddp_reducer_backward_end(ddp_reducer *r, ddp_error *err)
{
    if (ddp_reducer_check_mini_batch(r, err))
        return err->code;
    for (int layer = r->table->layer_count - 1; layer >= 0; layer--) {
        if (!ddp_reducer_trains(r, layer) || r->ready[layer])
            continue;
        if (ddp_reducer_check_unused(r, layer, err))
            return err->code;
        mark_ready(r, layer);
    }
    r->mini_batch = r->sync ? 0 : r->mini_batch + 1;
    if (!r->sync)
        return DDP_OK;
    r->limit = ddp_launch_order_early(r->order);
    if (launch_full_buckets(r, err) || (r->encoded && start_second_sums(r, err)))
        return err->code;
    return r->config.sharded ? ddp_reducer_count_ranks(r, err) : DDP_OK;
}

ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err)
{
    r->limit = r->piece_count;
    return launch_full_buckets(r, err);
}

/* ---- waiting ---- */

static ddp_status fence_sum(ddp_reducer *r, size_t piece, ddp_error *err)
{
    if (r->encoded)
        return ddp_encoded_sums_fence_bucket(r->encoded, piece, err);
    return ddp_work_fence(r->sums[piece], err);
}

/* In launch order, in which pieces travel: a failure then names the bucket
 * that is missing, and not one behind it. */
static ddp_status fence_next(ddp_reducer *r, ddp_error *err)
{
    size_t piece = ddp_launch_order_nth(r->order, r->landed), b = r->pieces[piece].bucket;

    if (ddp_reducer_is_bucket_dropped(r, b)) {
        r->landed++;
        return DDP_OK;
    }
    ddp_watch_wait(r->config.watch, (int)b);
    if (fence_sum(r, piece, err))
        return ddp_reducer_wrap_error(r, b, err);
    ddp_watch_record(r->config.watch, DDP_EVENT_LAND, (int)b);
    r->landed++;
    return DDP_OK;
}

/* Until the last piece that has something of the layer. */
static ddp_status fence_pieces(ddp_reducer *r, int layer, ddp_error *err)
{
    size_t last = ddp_reducer_last_launch(r, layer);

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

/* Sums that have arrived elsewhere become gradients. */
static void decode_layer(ddp_reducer *r, int layer)
{
    int64_t start = ddp_clock_ns();

    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        if (!ddp_reducer_is_bucket_dropped(r, r->plan->places[i].bucket))
            ddp_encoded_sums_decode_param(r->encoded, i);
    r->total.drive_ns += ddp_clock_ns() - start;
}

ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *update, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st;

    *update =
        layer >= r->table->first_trained || r->first_param[layer] == r->first_param[layer + 1];
    if (!ddp_reducer_trains(r, layer))
        return DDP_OK;
    st = fence_pieces(r, layer, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    if (!st && r->encoded)
        decode_layer(r, layer);
    return st ? st : ddp_reducer_must_update(r, layer, update, err);
}

ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *update, ddp_error *err)
{
    if (ddp_reducer_layer_fence(r, layer, update, err))
        return err->code;
    return ddp_group_synchronize(r->group, err);
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
