/* What a checkpoint of a network is made of, and that straight to the files. A state file has, of
 * each parameter, the optimizer's moments; values of parameters and statistics only where the
 * weights file would not give them back; then what algorithms keep (state/arrays.c lists them in
 * that order). */
#include "state/save.h"

#include "base/is_finite.h"
#include "glue/train_position.h"
#include "state/arrays.h"

#include <darknet.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is in a checkpoint ---- */

/* Would load_weights give back what write_weights wrote? Layers that are not saved, or
 * loaded in part, shift or lose what is in the file. */
static int weights_file_is_whole(const network *net, int cutoff)
{
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        if (l->dontsave || l->dontload || l->dontloadscales || l->numload || l->flipped)
            return 0;
    }
    return cutoff >= net->n;
}

/* ---- moments that are shared out ---- */

_Static_assert((int)DDP_CHECKPOINT_BLOCK <= (int)DDP_SHARDED_BLOCK,
               "what is asked for is one block");

static ddp_status ask(void *ctx, size_t key, size_t at, float *block, size_t count, ddp_error *err)
{
    const ddp_sharded_block b = {.param = key / DDP_OPTIMIZER_BUFFERS,
                                 .moment = (int)(key % DDP_OPTIMIZER_BUFFERS),
                                 .at = at,
                                 .count = count};

    return ddp_sharded_ask(ctx, &b, block, err);
}

static ddp_status check_shared(const ddp_param_table *table, ddp_sharded *sharded, ddp_error *err)
{
    ddp_sharded_block bad;
    int finite;

    if (ddp_sharded_ask_finite(sharded, &finite, &bad, err))
        return err->code;
    if (!finite)
        return ddp_checkpoint_not_finite(
            &(ddp_checkpoint_array){.layer = table->params[bad.param].layer,
                                    .part = table->params[bad.param].part,
                                    .name = table->params[bad.param].optimizer.name[bad.moment]},
            err);
    return DDP_OK;
}

/* Nothing is written that no run can go on from. */
static ddp_status check_finite(const ddp_checkpoint *c, const ddp_param_table *table,
                               ddp_sharded *sharded, ddp_error *err)
{
    if (ddp_param_table_check_finite(table, err))
        return err->code;
    if (!ddp_all_finite(&c->metadata.average_loss, 1))
        return ddp_fail(err, DDP_ERR_FORMAT, "the average loss is not finite");
    if (ddp_checkpoint_check_finite(c, err))
        return err->code;
    return sharded ? check_shared(table, sharded, err) : DDP_OK;
}

static ddp_checkpoint_metadata metadata_of(const ddp_checkpoint_run *run, network *net,
                                           const ddp_param_table *table)
{
    uint64_t seen = *net->seen;
    ddp_checkpoint_metadata metadata = {
        .saved_at_ns = run->saved_at_ns,
        .step = ddp_train_position_of(net).learnt_step,
        .seen = seen,
        .t = (uint64_t)*net->t,
        .seed = run->seed,
        .epoch = run->list_count ? seen / run->list_count : 0,
        .position = run->list_count ? seen % run->list_count : 0,
        .list_count = run->list_count,
        .list_hash = run->list_hash,
        .width = (uint64_t)net->w,
        .height = (uint64_t)net->h,
        .ranks = run->ranks,
        .average_loss = net->average_loss,
        .values_hash = ddp_param_table_hash(table),
        .option_count = run->option_count,
    };

    memcpy(metadata.options, run->options, sizeof metadata.options);
    ddp_checkpoint_set_base(&metadata, run->base);
    return metadata;
}

ddp_status ddp_checkpoint_look_at(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                  int cutoff, const ddp_checkpoint_run *run, ddp_error *err)
{
    const ddp_checkpoint_kinds kinds = {.values = !weights_file_is_whole(net, cutoff),
                                        .shared = run->sharded != NULL};

    *c = (ddp_checkpoint){.cfg = run->cfg, .cfg_bytes = run->cfg_bytes};
    if (ddp_param_table_init(table, net, ddp_device_host(), err)
        || ddp_param_table_pull(table, net, run->device, err))
        return err->code;
    c->metadata = metadata_of(run, net, table);
    if (ddp_checkpoint_list(&c->arrays, &c->array_count, table, run->state, kinds, err))
        return err->code;
    return check_finite(c, table, run->sharded, err);
}

/* ---- to the files ---- */

struct weights {
    network *net;
    int cutoff;
};

static void write_to(void *ctx, FILE *fp)
{
    const struct weights *w = ctx;

    write_weights(w->net, fp, w->cutoff);
}

ddp_status ddp_checkpoint_begin(ddp_pair_writing **out, network *net, const char *path, int cutoff,
                                ddp_checkpoint_run *run, ddp_error *err)
{
    struct weights weights = {net, cutoff};
    const ddp_weights_writer writer = {write_to, &weights};
    const ddp_checkpoint_source source = {ask, run->sharded};
    ddp_param_table table = {0};
    ddp_checkpoint c;
    ddp_status st = ddp_checkpoint_look_at(&c, &table, net, cutoff, run, err);

    *out = NULL;
    c.source = &source;
    if (st == DDP_ERR_FORMAT)
        st = ddp_wrap(err, "%s is not written", path);
    if (!st)
        st = ddp_pair_write(out, path, &c, &writer, err);
    if (!st)
        run->saved_at_ns = c.metadata.saved_at_ns;
    free(c.arrays);
    ddp_param_table_release(&table);
    return st;
}

ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err)
{
    ddp_pair_writing *w;
    ddp_status st = ddp_checkpoint_begin(&w, net, path, cutoff, run, err);

    return st ? st : ddp_pair_finish(w, err);
}

ddp_status ddp_checkpoint_is_of(const ddp_checkpoint_metadata *m, network *net,
                                const ddp_checkpoint_run *run, int *same, ddp_error *err)
{
    ddp_param_table table = {0};
    ddp_status st = DDP_OK;

    *same = 0;
    if (m->seen != *net->seen || m->t != (uint64_t)*net->t)
        return DDP_OK;
    if (ddp_param_table_init(&table, net, ddp_device_host(), err)
        || ddp_param_table_pull(&table, net, run->device, err))
        st = err->code;
    else
        *same = m->values_hash == ddp_param_table_hash(&table);
    ddp_param_table_release(&table);
    return st;
}
