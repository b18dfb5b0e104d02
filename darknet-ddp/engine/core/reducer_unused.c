/* Finds out whether a layer that did not run on this rank ran on another. A run count of each
 * parameter is summed in its bucket (core/bucket_plan.h); with config.sharded, one sum has a count
 * of each layer. The sum is above 0 if the layer ran on any rank. */
#include "core/reducer_state.h"

void ddp_reducer_freeze_layers(ddp_reducer *r, int first)
{
    r->frozen = first;
}

/* 1 or 0, and not how often it ran, so that the sum fits into any wire. */
void ddp_reducer_write_counts(ddp_reducer *r, size_t b)
{
    const ddp_bucket *bucket = &r->plan->buckets[b];

    if (ddp_reducer_is_alone(r) || r->config.sharded)
        return;
    for (int layer = bucket->first_layer; layer <= bucket->last_layer; layer++)
        for (size_t i = r->first_param[layer]; i < r->first_param[layer + 1]; i++)
            if (r->plan->places[i].bucket == b)
                r->counts[r->plan->places[i].nth] = r->ran[layer] ? 1.0F : 0.0F;
    ddp_device_set(r->table->device, r->memory + bucket->counts, r->counts, bucket->param_count);
}

ddp_status ddp_reducer_check_unused(const ddp_reducer *r, int layer, ddp_error *err)
{
    const ddp_option_names *names = r->config.names ? r->config.names : &ddp_plain_option_names;

    if (r->config.find_unused || layer < r->frozen)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "layer %d (%s) has parameters and did not run backward in this mini-batch; "
                    "%s 1 allows that",
                    layer, r->table->params[r->first_param[layer]].kind, names->find_unused);
}

/* A layer that did not run here: did it elsewhere? The one case in which the program waits for
 * the sum itself, and not only what it queues on a GPU. */
static ddp_status ran_elsewhere(const ddp_reducer *r, int layer, int *update, ddp_error *err)
{
    const ddp_place *place = &r->plan->places[r->first_param[layer]];
    float count = 0;

    if (r->config.sharded) {
        if (ddp_reducer_ranks_of(r, layer, &count, err))
            return err->code;
    } else if (!ddp_reducer_is_alone(r)) {
        size_t piece = ddp_reducer_last_piece(r, place->bucket);

        if (ddp_work_wait(ddp_reducer_last_sum(r, piece), err))
            return ddp_reducer_wrap_error(r, place->bucket, err);
        ddp_device_pull(r->table->device, &count,
                        r->memory + r->plan->buckets[place->bucket].counts + place->nth, 1);
    }
    *update = count > 0;
    return DDP_OK;
}

ddp_status ddp_reducer_must_update(ddp_reducer *r, int layer, int *update, ddp_error *err)
{
    ddp_status st = DDP_OK;

    *update = layer >= r->frozen && !r->dropped[layer];
    if (*update && !r->ran[layer])
        st = ran_elsewhere(r, layer, update, err);
    r->ran[layer] = 0;
    return st;
}
