#include "glue/trainer_state.h"

#include <stdlib.h>

/* Steps without some residual blocks: core/layer_drop.h says which, glue/blocks.h what one is, and
 * network->drops what Darknet is told. Left-out layers are not sent (core/reducer.h), not updated,
 * and keep BatchNorm's statistics. */

static ddp_status check_cfg(const ddp_trainer *t, const network *net, ddp_error *err)
{
    if (t->drop.draw.blocks == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "layer drop leaves residual blocks out, and this cfg has none that learns: "
                        "no [shortcut] of one layer of its own size, with layers between them that "
                        "nobody else reads");
    if (net->max_batches <= 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "layer drop grows with the part of the run that is done: the cfg needs "
                        "max_batches, which says how long it is");
    return DDP_OK;
}

static ddp_status allocate(ddp_trainer *t, const network *net, ddp_error *err)
{
    size_t layers = (size_t)net->n;

    t->drop.block_of = calloc(layers, sizeof *t->drop.block_of);
    t->drop.left_out = calloc(layers, sizeof *t->drop.left_out);
    t->drop.scale = calloc(layers, sizeof *t->drop.scale);
    if (!t->drop.block_of || !t->drop.left_out || !t->drop.scale)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu layers", layers);
    for (size_t i = 0; i < layers; i++)
        t->drop.scale[i] = 1;
    return DDP_OK;
}

ddp_status ddp_trainer_open_drop(ddp_trainer *t, network *net, ddp_error *err)
{
    if (t->config.layer_drop == 0)
        return DDP_OK;
    t->drop.count = (ddp_drop_count){0};
    t->drop.draw = (ddp_layer_drop){.seed = t->config.seed, .most = t->config.layer_drop};
    if (ddp_blocks_find(&t->drop.blocks, &t->drop.draw.blocks, net, t->table.first_trained, err)
        || check_cfg(t, net, err) || allocate(t, net, err))
        return err->code;
    t->drop.draw.steps = (size_t)net->max_batches;
    for (int b = 0; b < t->drop.draw.blocks; b++)
        for (int i = t->drop.blocks[b].first; i <= t->drop.blocks[b].last; i++)
            t->drop.block_of[i] = b + 1;
    t->table.block = t->drop.block_of;
    t->drop.told = (layer_drops){.left_out = t->drop.left_out, .scale = t->drop.scale};
    net->drops = &t->drop.told;
    return DDP_OK;
}

void ddp_trainer_close_drop(ddp_trainer *t)
{
    free(t->drop.blocks);
    free(t->drop.block_of);
    free(t->drop.left_out);
    free(t->drop.scale);
    t->drop = (struct ddp_trainer_drop){.count = t->drop.count};
    t->net->drops = NULL;
}

void ddp_trainer_choose_blocks(ddp_trainer *t, const ddp_position *before)
{
    const ddp_layer_drop *draw = &t->drop.draw;

    if (!t->drop.blocks)
        return;
    for (int b = 0; b < draw->blocks; b++) {
        const ddp_block *block = &t->drop.blocks[b];
        int out = ddp_layer_drop_leaves_out(draw, b, before->step);

        for (int i = block->first; i <= block->last; i++)
            t->drop.left_out[i] = (char)out;
        t->drop.scale[block->shortcut] = (float)(1 / ddp_layer_drop_keep(draw, b, before->step));
        if (before->begun == 0) {
            t->drop.count.blocks++;
            t->drop.count.left_out += (size_t)out;
        }
    }
    ddp_statistics_leave_out(t->statistics, t->drop.left_out);
}

void ddp_trainer_leave_blocks_out(ddp_trainer *t)
{
    if (t->drop.blocks)
        ddp_reducer_leave_out(t->reducer, t->drop.left_out);
}

ddp_drop_count ddp_trainer_dropped(const ddp_trainer *t)
{
    return t->drop.count;
}

int ddp_trainer_blocks(const ddp_trainer *t)
{
    return t->drop.draw.blocks;
}
