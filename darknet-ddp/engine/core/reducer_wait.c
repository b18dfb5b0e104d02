#include "core/reducer_state.h"

#include "base/clock.h"

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

        if (ddp_allreduce_wait(ddp_reducer_last_sum(r, piece), err))
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

    if (!r->sums->ops->land)
        return;

    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
        if (!ddp_reducer_is_left_out(r, r->plan->places[i].bucket))
            r->sums->ops->land(r->sums, i);
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

int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket)
{
    if (r->config.halves)
        return ddp_reducer_taken_finite(r, bucket);
    for (size_t k = 0; k < r->landed; k++) {
        size_t piece = ddp_launch_order_nth(r->order, k);

        *bucket = r->pieces[piece].bucket;
        if (!ddp_reducer_is_left_out(r, *bucket) && !r->sums->ops->is_finite(r->sums, piece))
            return 0;
    }
    return 1;
}

void ddp_reducer_drop(ddp_reducer *r)
{
    ddp_device_zero(r->table->device, r->memory, r->plan->count);
    for (int layer = 0; layer < r->table->layer_count; layer++)
        r->ran[layer] = 0;
}

int ddp_reducer_layer_own(ddp_reducer *r, int layer, double factor)
{
    int used = r->ran[layer] != 0;

    if (!ddp_reducer_trains(r, layer))
        return r->first_param[layer] == r->first_param[layer + 1];
    r->ran[layer] = 0;
    for (size_t i = r->first_param[layer]; used && i < r->first_param[layer + 1]; i++)
        ddp_device_scale(r->table->device, r->memory + r->plan->places[i].offset, factor,
                         r->table->params[i].count);
    return used;
}

ddp_status ddp_reducer_look_own(const ddp_reducer *r, int *finite, ddp_error *err)
{
    return ddp_device_look(r->table->device, r->memory, r->plan->count, finite, err);
}

static int is_done(const ddp_reducer *r, size_t piece)
{
    return ddp_reducer_is_left_out(r, r->pieces[piece].bucket)
           || r->sums->ops->is_done(r->sums, piece);
}

int ddp_reducer_done(const ddp_reducer *r)
{
    for (size_t k = 0; k < r->launched; k++)
        if (!is_done(r, ddp_launch_order_nth(r->order, k)))
            return 0;
    return r->launched == r->piece_count;
}

size_t ddp_reducer_backlog(const ddp_reducer *r)
{
    size_t count = 0;

    for (size_t k = 0; k < ddp_launch_order_early(r->order); k++) {
        size_t piece = ddp_launch_order_nth(r->order, k);

        count += is_done(r, piece) ? 0 : r->pieces[piece].count;
    }
    return count;
}
