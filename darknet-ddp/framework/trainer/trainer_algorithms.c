/* Opens the algorithms of a run (algorithms/set.h), attaches them to Darknet's network, and asks
 * them which layers a step leaves out. */
#include "trainer/trainer_state.h"

#include "glue/param_table.h"
#include "glue/residual_blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static ddp_status open_set(ddp_trainer *t, network *net, const ddp_param_table *table,
                           ddp_error *err)
{
    ddp_algorithm_of of = {
        .options = t->config.options,
        .group = t->group,
        .device = ddp_trainer_device(t, net),
        .table = table,
        .network = {.max_batches = net->max_batches > 0 ? (size_t)net->max_batches : 0,
                    .burn_in = net->burn_in,
                    .ema_alpha = (double)net->ema_alpha}};
    ddp_residual_block *blocks;
    ddp_status st =
        ddp_residual_blocks_find(&blocks, &of.network.block_count, net, table->first_trained, err);

    if (st)
        return st;
    of.network.blocks = blocks;
    st = ddp_algorithm_set_open(&t->algorithms, &of, err);
    free(blocks);
    return st;
}

ddp_status ddp_trainer_open_algorithms(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_param_table table;
    ddp_status st;

    ddp_trainer_close_algorithms(t);
    if (!t->config.options)
        return DDP_OK;
    st = ddp_param_table_init(&table, net, ddp_device_host(), err);
    if (st)
        return st;
    st = open_set(t, net, &table, err);
    ddp_param_table_release(&table);
    return st;
}

void ddp_trainer_close_algorithms(ddp_trainer *t)
{
    ddp_algorithm_set_close(t->algorithms);
    t->algorithms = NULL;
}

/* ---- attaching ---- */

/* Blocks in numbers that tell their layers from others', for the plan of buckets. */
static ddp_status number_blocks(ddp_trainer *t, const network *net, ddp_error *err)
{
    ddp_residual_block *blocks;
    int count;
    ddp_status st = ddp_residual_blocks_find(&blocks, &count, net, t->table.first_trained, err);

    if (st)
        return st;
    for (int b = 0; b < count; b++)
        for (int i = blocks[b].first; i <= blocks[b].last; i++)
            t->layers.block_of[i] = b + 1;
    free(blocks);
    return DDP_OK;
}

static ddp_status open_layers(ddp_trainer *t, network *net, ddp_error *err)
{
    size_t layers = (size_t)net->n;
    ddp_plugs plugs = ddp_algorithm_set_plugs(t->algorithms);

    t->layers.plug = plugs.layers;
    t->layers.self = plugs.layers_self;
    if (!t->layers.plug)
        return DDP_OK;
    t->layers.block_of = calloc(layers, sizeof *t->layers.block_of);
    t->layers.dropped = calloc(layers, sizeof *t->layers.dropped);
    t->layers.scale = calloc(layers, sizeof *t->layers.scale);
    if (!t->layers.block_of || !t->layers.dropped || !t->layers.scale)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu layers", layers);
    for (size_t i = 0; i < layers; i++)
        t->layers.scale[i] = 1;
    if (number_blocks(t, net, err))
        return err->code;
    t->table.block = t->layers.block_of;
    t->layers.drops = (layer_drops){.left_out = t->layers.dropped, .scale = t->layers.scale};
    net->drops = &t->layers.drops;
    return DDP_OK;
}

ddp_status ddp_trainer_prepare_algorithms(ddp_trainer *t, network *net, ddp_error *err)
{
    if ((!t->algorithms || ddp_algorithm_set_was_attached(t->algorithms))
        && ddp_trainer_open_algorithms(t, net, err))
        return err->code;
    t->config.reducer.sharded = ddp_algorithm_set_is_sharded(t->algorithms);
    return open_layers(t, net, err);
}

ddp_status ddp_trainer_share_state(const ddp_trainer *t, ddp_error *err)
{
    ddp_state *state = ddp_algorithm_set_state(t->algorithms);

    if (!state || ddp_state_set_count(state) == 0)
        return DDP_OK;
    return ddp_state_share(state, t->group, t->root, err)
               ? err->code
               : ddp_state_use_device(state, t->table.device, err);
}

void ddp_trainer_leave_state(const ddp_trainer *t)
{
    if (t->algorithms)
        ddp_state_leave_device(ddp_algorithm_set_state(t->algorithms));
}

ddp_status ddp_trainer_attach_algorithms(ddp_trainer *t, ddp_error *err)
{
    ddp_attached attached = {.table = &t->table,
                             .seed = t->config.seed,
                             .reducer = t->reducer,
                             .root = t->root,
                             .saved_moments = t->saved_moments};
    ddp_plugs plugs = ddp_algorithm_set_plugs(t->algorithms);

    if (!t->algorithms)
        return DDP_OK;
    t->steps.plug = plugs.step;
    t->steps.self = plugs.step_self;
    t->updates.plug = plugs.update;
    t->updates.self = plugs.update_self;
    return ddp_algorithm_set_attach(t->algorithms, &attached, err);
}

void ddp_trainer_detach_algorithms(ddp_trainer *t)
{
    if (t->algorithms)
        ddp_algorithm_set_detach(t->algorithms);
    free(t->layers.block_of);
    free(t->layers.dropped);
    free(t->layers.scale);
    memset(&t->layers, 0, sizeof t->layers);
    memset(&t->steps, 0, sizeof t->steps);
    memset(&t->updates, 0, sizeof t->updates);
    t->net->drops = NULL;
}

/* ---- which layers a step has ---- */

void ddp_trainer_choose_layers(ddp_trainer *t, const ddp_train_position *before)
{
    if (!t->layers.plug)
        return;
    if (before->begun == 0)
        t->layers.plug->choose(t->layers.self, before->step, t->layers.dropped, t->layers.scale);
    ddp_batchnorm_stats_drop_layers(t->statistics, t->layers.dropped);
}

void ddp_trainer_drop_layers(ddp_trainer *t)
{
    if (t->layers.plug)
        ddp_reducer_drop_layers(t->reducer, t->layers.dropped);
}

const ddp_algorithm_set *ddp_trainer_algorithms(const ddp_trainer *t)
{
    return t->algorithms;
}
