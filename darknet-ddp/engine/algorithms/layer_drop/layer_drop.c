/* The algorithm of -ddp_layer_drop, as the trainer calls it (algorithms/algorithm.h): each step
 * leaves some residual blocks out. draw.h chooses the blocks of a step; algorithms/plugs.h says
 * what a block is. */
#include "algorithms/layer_drop/draw.h"

#include "algorithms/algorithm.h"
#include "comm/group_schedule.h"
#include "options/options.h"

#include <stdlib.h>
#include <string.h>

struct drop {
    ddp_group *group;
    ddp_layer_drop draw;
    ddp_residual_block *blocks; /* draw.blocks of them */
    size_t blocks_of_all_steps; /* and of these */
    size_t dropped;
};

static int is_on(const ddp_options *o)
{
    return o->layer_drop > 0;
}

static ddp_status check_run(const ddp_algorithm_of *of, ddp_error *err)
{
    if (of->network.block_count == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "layer drop leaves residual blocks out, and this cfg has none that learns: "
                        "no [shortcut] of one layer of its own size, with layers between them that "
                        "nobody else reads");
    if (of->network.max_batches == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "layer drop grows with the part of the run that is done: the cfg needs "
                        "max_batches, which says how long it is");
    return DDP_OK;
}

static ddp_status open_drop(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    size_t count = (size_t)of->network.block_count;
    struct drop *d = calloc(1, sizeof *d);

    if (d)
        d->blocks = calloc(count, sizeof *d->blocks);
    if (!d || !d->blocks) {
        free(d);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu residual blocks", count);
    }
    memcpy(d->blocks, of->network.blocks, count * sizeof *d->blocks);
    d->group = of->group;
    d->draw = (ddp_layer_drop){.most = of->options->layer_drop,
                               .steps = of->network.max_batches,
                               .blocks = of->network.block_count};
    *self = d;
    return DDP_OK;
}

static ddp_status attach(void *self, const ddp_attached *a, ddp_error *err)
{
    struct drop *d = self;

    (void)err;
    d->draw.seed = a->seed;
    return DDP_OK;
}

static void close_drop(void *self)
{
    struct drop *d = self;

    free(d->blocks);
    free(d);
}

static void choose(void *self, size_t step, char *dropped, float *scale)
{
    struct drop *d = self;

    for (int b = 0; b < d->draw.blocks; b++) {
        const ddp_residual_block *block = &d->blocks[b];
        int out = ddp_layer_drop_drops_block(&d->draw, b, step);

        for (int i = block->first; i <= block->last; i++)
            dropped[i] = (char)out;
        scale[block->shortcut] = (float)(1 / ddp_layer_drop_keep_probability(&d->draw, b, step));
        d->blocks_of_all_steps++;
        d->dropped += (size_t)out;
    }
}

static void print_drop(const void *self, FILE *out)
{
    const struct drop *d = self;
    double most = d->draw.most;
    int blocks = d->draw.blocks;

    if (blocks == 1)
        (void)fprintf(out,
                      "DDP: layer drop: 1 residual block; more and more steps leave it out, in the "
                      "end %.1f%% of them\n",
                      100 * most);
    else
        (void)fprintf(out,
                      "DDP: layer drop: %d residual blocks; a step leaves out more and more of "
                      "them, in the end %.1f%% on average, the last one %.1f%% of the time\n",
                      blocks, 100 * most * (blocks + 1) / (2.0 * blocks), 100 * most);
}

static void print_end(const void *self, FILE *out, size_t steps)
{
    const struct drop *d = self;
    ddp_traffic sent = ddp_group_traffic(d->group);

    if (d->blocks_of_all_steps == 0 || steps == 0)
        return;
    (void)fprintf(out, "DDP: layer drop: %zu of %zu blocks of all steps were left out, %.1f%%",
                  d->dropped, d->blocks_of_all_steps,
                  100 * (double)d->dropped / (double)d->blocks_of_all_steps);
    if (sent.bytes > 0 && ddp_group_schedule(d->group))
        (void)fprintf(out, "; rank 0 sent %.4f MB a step",
                      (double)sent.bytes / 1e6 / (double)steps);
    (void)fprintf(out, "\n");
}

static const ddp_layers_plug layers = {.choose = choose};

const ddp_algorithm ddp_algorithm_layer_drop = {
    .example = "-ddp_layer_drop 0.5",
    .claims = {.controls = DDP_CONTROLS_LAYERS, .breaks = DDP_GUARANTEE_PLAIN},
    .is_on = is_on,
    .check_run = check_run,
    .open = open_drop,
    .attach = attach,
    .close = close_drop,
    .layers = &layers,
    .print = print_drop,
    .print_end = print_end,
};
