/* The way of a layer's gradients, from their place in a bucket to their sum in the same place. What
 * a caller must know is in core/reducer.h; in the order of a step:
 *
 *   take_gradients  once: the framework's gradient pointers point into buckets, so backward itself
 *                   writes there, and the update reads there. Nothing is copied in or out.
 *   layer_ready     a layer's gradients are final: its parameters are counted off their buckets
 *   launch          starts the sum of each bucket that lacks none, if all before it in the launch
 *                   order (core/launch_order.h) have been started: the early ones while backward
 *                   computes, the others, late and deferred, when launch_deferred lets them
 *   progress        messages move only inside calls, so Darknet calls this often while it computes
 *   layer_fence     before the layer's update: waits for sums in the launch order, until all that
 *                   have a part of the layer are there
 *
 * r->sums makes the sums, piece by piece; a piece is a bucket, or a part of a large one. In a plain
 * run core/plain_sums.c is no more than ddp_work_start and ddp_work_fence
 * (comm/work.h) on the piece's memory; core/rounds.c sums what an algorithm makes of it. */
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "core/reducer_state.h"

#include "base/clock.h"

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
    r->spread = 0;
    r->taken = 0;
    r->sums = r->is_plugged && r->plugged ? r->plugged : r->plain;
    if (r->sync && r->sums->rounds)
        r->sums->rounds->begin(r->sums);
    if (r->sync)
        ddp_reducer_begin_order(r);
    memset(r->ready, 0, (size_t)r->table->layer_count);
    for (size_t b = 0; b < r->plan->bucket_count; b++)
        r->pending[b] = r->plan->buckets[b].param_count;
}

/* ---- launching ---- */

/* A bucket is about to leave: did each of its parameters' layers run here? 1 or 0, and not how
 * often, so that the sum fits into any wire. */
static void write_counts(ddp_reducer *r, size_t b)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    for (int layer = bucket->first_layer; layer <= bucket->last_layer; layer++)
        for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
            if (r->plan->places[i].bucket == b)
                r->counts[r->plan->places[i].nth] = r->ran[layer] ? 1.0F : 0.0F;
    ddp_device_set(r->table->device, r->memory + bucket->counts, r->counts, bucket->param_count);
}

/* The next one of the launch order is full, and it is its turn. */
static ddp_status launch_next(ddp_reducer *r, ddp_error *err)
{
    size_t piece = ddp_launch_order_nth(r->order, r->launched++), b = r->pieces[piece].bucket;
    ddp_status st;

    if (ddp_reducer_is_left_out(r, b)) {
        if (r->sums->rounds)
            r->sums->rounds->skip(r->sums, piece);
        return DDP_OK;
    }
    if (!ddp_reducer_is_alone(r) && !r->config.halves && piece == ddp_reducer_last_piece(r, b))
        write_counts(r, b);
    st = r->sums->ops->start(r->sums, piece, err);
    ddp_watch_record(r->config.watch, DDP_EVENT_LAUNCH, (int)b);
    return st ? ddp_reducer_wrap_error(r, b, err) : DDP_OK;
}

static int may_launch(const ddp_reducer *r)
{
    return r->launched < r->limit
           && r->pending[r->pieces[ddp_launch_order_nth(r->order, r->launched)].bucket] == 0
           && (!r->sums->rounds || r->sums->rounds->may_start(r->sums));
}

/* A further sum of a bucket; waits for what it is made of. */
static ddp_status go_on(ddp_reducer *r, ddp_error *err)
{
    size_t b;

    (void)r->sums->rounds->is_left(r->sums, &b);
    return r->sums->rounds->go_on(r->sums, err) ? ddp_reducer_wrap_error(r, b, err) : DDP_OK;
}

/* Launch every piece of a bucket that is full and whose predecessors are launched, as far as
 * r->limit. */
static ddp_status launch(ddp_reducer *r, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st = DDP_OK;

    while (!st) {
        if (may_launch(r))
            st = launch_next(r, err);
        else if (r->sums->rounds && r->sums->rounds->may_go_on(r->sums))
            st = go_on(r, err);
        else
            break;
    }
    if (!st && r->launched > 0)
        st = ddp_group_progress(r->group, err);
    r->total.drive_ns += ddp_clock_ns() - start;
    return st;
}

/* All buckets are full: start their sums, and what is left of those that wait for each other. */
static ddp_status launch_all(ddp_reducer *r, ddp_error *err)
{
    ddp_status st = launch(r, err);
    size_t b;

    while (!st && r->sums->rounds && r->sums->rounds->is_left(r->sums, &b)) {
        int64_t start = ddp_clock_ns();

        ddp_watch_wait(r->config.watch, (int)b, -1);
        st = go_on(r, err);
        r->total.wait_ns += ddp_clock_ns() - start;
        if (!st)
            st = launch(r, err);
    }
    return st;
}

/* ---- layers are ready ---- */

/* A step may sync before its last mini-batch: what there is then makes the sum. */
static void fold(const ddp_reducer *r, size_t offset, size_t count)
{
    if (r->sync && r->mini_batch < r->config.mini_batches - 1)
        ddp_tree_sum_collect(r->tree, r->mini_batch, offset, count);
    else
        ddp_tree_sum_fold(r->tree, r->mini_batch, offset, count);
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
    if (!ddp_reducer_trains(r, layer) || r->ready[layer])
        return DDP_OK;
    if (check_mini_batch(r, err))
        return err->code;
    mark_ready(r, layer);
    r->ran[layer] = 1;
    if (!r->sync || !r->config.overlap)
        return DDP_OK;
    r->limit = ddp_launch_order_early(r->order);
    return launch(r, err);
}

ddp_status ddp_reducer_progress(ddp_reducer *r, ddp_error *err)
{
    if (r->landed == r->launched && r->taken == r->spread)
        return DDP_OK;
    return launch(r, err); /* a sum may have arrived that others wait for */
}

void ddp_reducer_leave_out(ddp_reducer *r, const char *left_out)
{
    for (int layer = 0; layer < r->table->layer_count; layer++) {
        int so_far = r->mini_batch == 0 || r->left_out[layer];

        r->left_out[layer] = (char)(left_out[layer] && so_far);
        if (left_out[layer] && ddp_reducer_trains(r, layer))
            mark_ready(r, layer);
    }
}

static ddp_status refuse_unused(const ddp_reducer *r, int layer, ddp_error *err)
{
    const ddp_option_names *names = r->config.names ? r->config.names : &ddp_plain_option_names;

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
        if (!ddp_reducer_trains(r, layer) || r->ready[layer])
            continue;
        if (!r->config.find_unused && layer >= r->frozen)
            return refuse_unused(r, layer, err);
        mark_ready(r, layer);
    }
    r->mini_batch = r->sync ? 0 : r->mini_batch + 1;
    if (!r->sync)
        return DDP_OK;
    r->limit = ddp_launch_order_early(r->order);
    if (launch_all(r, err))
        return err->code;
    return r->config.halves ? ddp_reducer_count_ranks(r, err) : DDP_OK;
}

ddp_status ddp_reducer_launch_deferred(ddp_reducer *r, ddp_error *err)
{
    r->limit = r->piece_count;
    return launch(r, err);
}

/* ---- waiting ---- */

/* In launch order, in which pieces travel: a failure then names the bucket
 * that is missing, and not one behind it. */
static ddp_status fence_next(ddp_reducer *r, ddp_error *err)
{
    size_t piece = ddp_launch_order_nth(r->order, r->landed), b = r->pieces[piece].bucket;

    if (ddp_reducer_is_left_out(r, b)) {
        r->landed++;
        return DDP_OK;
    }
    ddp_watch_wait(r->config.watch, (int)b, -1);
    if (r->sums->ops->fence(r->sums, piece, err))
        return ddp_reducer_wrap_error(r, b, err);
    ddp_watch_record(r->config.watch, DDP_EVENT_LAND, (int)b);
    r->landed++;
    return DDP_OK;
}

static ddp_status fence_buckets(ddp_reducer *r, int layer, ddp_error *err)
{
    size_t last = ddp_reducer_last_number(r, layer);

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

    if (r->config.halves) {
        if (ddp_reducer_ranks_of(r, layer, &count, err))
            return err->code;
    } else if (!ddp_reducer_is_alone(r)) {
        size_t piece = ddp_reducer_last_piece(r, place->bucket);

        if (ddp_work_wait(ddp_reducer_last_sum(r, piece), err))
            return ddp_reducer_wrap_error(r, place->bucket, err);
        ddp_device_pull(r->table->device, &count,
                        r->memory + r->plan->buckets[place->bucket].counts + place->nth, 1);
    }
    *used = count > 0;
    return DDP_OK;
}

/* Sums that have arrived elsewhere become gradients. */
static void land(ddp_reducer *r, int layer)
{
    int64_t start = ddp_clock_ns();

    if (!r->sums->rounds)
        return;
    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        if (!ddp_reducer_is_left_out(r, r->plan->places[i].bucket))
            r->sums->rounds->land(r->sums, i);
    r->total.drive_ns += ddp_clock_ns() - start;
}

ddp_status ddp_reducer_layer_fence(ddp_reducer *r, int layer, int *used, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ddp_status st;

    *used = layer >= r->table->first_trained || r->first_param[layer] == r->first_param[layer + 1];
    if (!ddp_reducer_trains(r, layer))
        return DDP_OK;
    st = fence_buckets(r, layer, err);
    r->total.wait_ns += ddp_clock_ns() - start;
    if (!st)
        land(r, layer);
    *used = layer >= r->frozen && !r->left_out[layer];
    if (!st && !r->ran[layer] && *used)
        st = ran_elsewhere(r, layer, used, err);
    r->ran[layer] = 0;
    return st;
}

ddp_status ddp_reducer_layer_wait(ddp_reducer *r, int layer, int *used, ddp_error *err)
{
    if (ddp_reducer_layer_fence(r, layer, used, err))
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
