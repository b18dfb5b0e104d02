/* Functions of the reducer beside the plain way of a layer's gradients, which core/reducer.c has.
 * They tell whether the sums of a step are finite and have arrived, and how much has not arrived.
 * They also serve three kinds of steps: steps whose gradients are thrown away, steps in which each
 * rank updates with its own gradients, and steps that add up a fixed number of mini-batches in a
 * tree (config.mini_batches). */
#include "core/reducer_state.h"

void ddp_reducer_use_codec(ddp_reducer *r, int on)
{
    r->encodes_next = on;
}

int ddp_reducer_syncs(const ddp_reducer *r)
{
    return r->sync;
}

static int is_finite(const ddp_reducer *r, size_t piece)
{
    return r->encoded ? ddp_encoded_sums_finite(r->encoded, piece)
                      : ddp_work_finite(r->sums[piece]);
}

int ddp_reducer_finite(const ddp_reducer *r, size_t *bucket)
{
    if (r->config.sharded)
        return ddp_reducer_received_finite(r, bucket);
    for (size_t k = 0; k < r->landed; k++) {
        size_t piece = ddp_launch_order_nth(r->order, k);

        *bucket = r->pieces[piece].bucket;
        if (!ddp_reducer_is_bucket_dropped(r, *bucket) && !is_finite(r, piece))
            return 0;
    }
    return 1;
}

void ddp_reducer_discard_step(ddp_reducer *r)
{
    ddp_device_zero(r->table->device, r->memory, r->plan->count);
    for (int layer = 0; layer < r->table->layer_count; layer++)
        r->ran[layer] = 0;
}

int ddp_reducer_use_own_gradients(ddp_reducer *r, int layer, double factor)
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

ddp_status ddp_reducer_check_own_finite(const ddp_reducer *r, int *finite, ddp_error *err)
{
    return ddp_device_check_finite(r->table->device, r->memory, r->plan->count, finite, err);
}

static int is_done(const ddp_reducer *r, size_t piece)
{
    if (ddp_reducer_is_bucket_dropped(r, r->pieces[piece].bucket))
        return 1;
    return r->encoded ? ddp_encoded_sums_done(r->encoded, piece) : ddp_work_done(r->sums[piece]);
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

/* ---- steps of several mini-batches ---- */

/* A step may sync before its last mini-batch: what there is then makes the sum. */
void ddp_reducer_fold_layer(const ddp_reducer *r, int layer)
{
    int ends_early = r->sync && r->mini_batch < r->config.mini_batches - 1;

    for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++) {
        size_t offset = r->plan->places[i].offset, count = r->table->params[i].count;

        if (ends_early)
            ddp_tree_sum_collect(r->tree, r->mini_batch, offset, count);
        else
            ddp_tree_sum_fold(r->tree, r->mini_batch, offset, count);
    }
}

ddp_status ddp_reducer_check_mini_batch(const ddp_reducer *r, ddp_error *err)
{
    if (!r->tree || r->sync || r->mini_batch < r->config.mini_batches - 1)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE, "mini-batch %d of a step of %d does not sync",
                    r->mini_batch + 1, r->config.mini_batches);
}
