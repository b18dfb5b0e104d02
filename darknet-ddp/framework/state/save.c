/* Saves a network straight to the files, without the copy in memory that state/snapshot.h makes.
 * Used if rank 0 has to ask other ranks for moments, or if there is no memory for a copy. */
#include "state/save.h"

#include "glue/param_table.h"

#include <darknet.h>
#include <stdlib.h>

/* ---- moments that are shared out ---- */

_Static_assert((int)DDP_CHECKPOINT_BLOCK <= (int)DDP_SHARDED_BLOCK,
               "what is asked for is one block");

static ddp_status ask(void *ctx, size_t key, size_t at, float *block, size_t count, ddp_error *err)
{
    const ddp_sharded_block b = {.param = key / DDP_OPTIMIZER_BUFFERS,
                                 .moment = (int)(key % DDP_OPTIMIZER_BUFFERS),
                                 .at = at,
                                 .count = count};

    return ddp_sharded_ask_block(ctx, &b, block, err);
}

static ddp_status check_shared(const ddp_param_table *table, ddp_sharded *sharded, ddp_error *err)
{
    ddp_sharded_block bad;
    int finite;

    if (ddp_sharded_ask_finite(sharded, &finite, &bad, err))
        return err->code;
    if (!finite)
        return ddp_checkpoint_fail_not_finite(
            &(ddp_checkpoint_array){.layer = table->params[bad.param].layer,
                                    .part = table->params[bad.param].part,
                                    .name = table->params[bad.param].optimizer.name[bad.moment]},
            err);
    return DDP_OK;
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

ddp_status ddp_checkpoint_write_parts(ddp_pair_writing **out, network *net, const char *path,
                                      int cutoff, ddp_checkpoint_run *run, ddp_error *err)
{
    struct weights weights = {net, cutoff};
    const ddp_weights_writer writer = {write_to, &weights};
    const ddp_checkpoint_source source = {ask, run->sharded};
    ddp_param_table table = {0};
    ddp_checkpoint c;
    ddp_status st = ddp_checkpoint_of_network(&c, &table, net, cutoff, run, err);

    *out = NULL;
    if (!st && run->sharded)
        st = check_shared(&table, run->sharded, err);
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
    ddp_status st = ddp_checkpoint_write_parts(&w, net, path, cutoff, run, err);

    return st ? st : ddp_pair_finish(w, err);
}
