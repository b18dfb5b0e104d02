#include "state/snapshot.h"

#include "base/finite.h"
#include "glue/position.h"
#include "glue/table.h"
#include "state/arrays.h"

#include <darknet.h>
#include <stdlib.h>
#include <string.h>

struct ddp_snapshot {
    ddp_checkpoint checkpoint; /* its arrays lie in `state`, their names too */
    int cutoff;
    char *weights; /* the bytes of the weights file */
    size_t weights_bytes, weights_room;
    int weights_failed;
    char *state;
    size_t state_room;
};

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

static ddp_status check_shared(const ddp_table *table, ddp_sharded *sharded, ddp_error *err)
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
static ddp_status check_finite(const ddp_checkpoint *c, const ddp_table *table,
                               ddp_sharded *sharded, ddp_error *err)
{
    if (ddp_table_check_finite(table, err))
        return err->code;
    if (!ddp_all_finite(&c->metadata.average_loss, 1))
        return ddp_fail(err, DDP_ERR_FORMAT, "the average loss is not finite");
    if (ddp_checkpoint_check_finite(c, err))
        return err->code;
    return sharded ? check_shared(table, sharded, err) : DDP_OK;
}

static ddp_checkpoint_metadata metadata_of(const ddp_checkpoint_run *run, network *net,
                                           const ddp_table *table)
{
    uint64_t seen = *net->seen;
    ddp_checkpoint_metadata metadata = {
        .saved_at_ns = run->saved_at_ns,
        .step = ddp_position_of(net).learnt_step,
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
        .values_hash = ddp_table_hash(table),
        .option_count = run->option_count,
    };

    memcpy(metadata.options, run->options, sizeof metadata.options);
    ddp_checkpoint_set_base(&metadata, run->base);
    return metadata;
}

/* All that a checkpoint is made of, where it lies in the network. Free c->arrays and release the
 * table in any case. */
static ddp_status look_at(ddp_checkpoint *c, ddp_table *table, network *net, int cutoff,
                          const ddp_checkpoint_run *run, ddp_error *err)
{
    const ddp_checkpoint_kinds kinds = {.values = !weights_file_is_whole(net, cutoff),
                                        .shared = run->sharded != NULL};

    *c = (ddp_checkpoint){.cfg = run->cfg, .cfg_bytes = run->cfg_bytes};
    if (ddp_table_init(table, net, ddp_device_host(), err)
        || ddp_table_pull(table, net, run->device, err))
        return err->code;
    c->metadata = metadata_of(run, net, table);
    if (ddp_checkpoint_list(&c->arrays, &c->array_count, table, run->state, kinds, err))
        return err->code;
    return check_finite(c, table, run->sharded, err);
}

/* ---- from the network ---- */

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
    ddp_table table = {0};
    ddp_checkpoint c;
    ddp_status st = look_at(&c, &table, net, cutoff, run, err);

    *out = NULL;
    c.source = &source;
    if (st == DDP_ERR_FORMAT)
        st = ddp_wrap(err, "%s is not written", path);
    if (!st)
        st = ddp_pair_write(out, path, &c, &writer, err);
    if (!st)
        run->saved_at_ns = c.metadata.saved_at_ns;
    free(c.arrays);
    ddp_table_release(&table);
    return st;
}

ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err)
{
    ddp_pair_writing *w;
    ddp_status st = ddp_checkpoint_begin(&w, net, path, cutoff, run, err);

    return st ? st : ddp_pair_finish(w, err);
}

/* ---- by way of memory ---- */

static int reserve(char **memory, size_t *room, size_t bytes)
{
    char *more;

    if (bytes <= *room)
        return 1;
    more = realloc(*memory, bytes);
    if (!more)
        return 0;
    *memory = more;
    *room = bytes;
    return 1;
}

/* The weights file's bytes come here. */
static ssize_t take_weights(void *cookie, const char *data, size_t bytes)
{
    ddp_snapshot *s = cookie;
    size_t needed = s->weights_bytes + bytes;

    if (needed > s->weights_room && !reserve(&s->weights, &s->weights_room, needed + needed / 2))
        s->weights_failed = 1;
    else
        memcpy(s->weights + s->weights_bytes, data, bytes);
    s->weights_bytes = s->weights_failed ? 0 : needed;
    return (ssize_t)bytes;
}

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a copy of the network");
}

static ddp_status copy_weights(ddp_snapshot *s, network *net, const ddp_table *table, int cutoff,
                               ddp_error *err)
{
    FILE *fp = fopencookie(s, "w", (cookie_io_functions_t){.write = take_weights});
    size_t bytes = 4096;

    for (size_t i = 0; i < table->param_count; i++)
        bytes += table->params[i].count * sizeof(float);
    for (size_t i = 0; i < table->buffer_count; i++)
        bytes += table->buffers[i].count * sizeof(float);
    s->weights_bytes = 0;
    s->weights_failed = !fp || !reserve(&s->weights, &s->weights_room, bytes);
    if (fp) {
        (void)setvbuf(fp, NULL, _IONBF, 0);
        write_weights(net, fp, cutoff);
        (void)fclose(fp);
    }
    return s->weights_failed ? no_memory(err) : DDP_OK;
}

static size_t text_bytes(const ddp_checkpoint_array *a)
{
    return strlen(a->part) + strlen(a->name) + 2;
}

/* The arrays, then their names. */
static ddp_status copy_arrays(ddp_snapshot *s, ddp_error *err)
{
    ddp_checkpoint *c = &s->checkpoint;
    size_t bytes = 0, at = 0;

    for (size_t i = 0; i < c->array_count; i++)
        bytes += c->arrays[i].count * sizeof(float) + text_bytes(&c->arrays[i]);
    if (!reserve(&s->state, &s->state_room, bytes + 1))
        return no_memory(err);
    for (size_t i = 0; i < c->array_count; i++) {
        size_t size = c->arrays[i].count * sizeof(float);

        memcpy(s->state + at, c->arrays[i].data, size);
        c->arrays[i].data = s->state + at;
        at += size;
    }
    for (size_t i = 0; i < c->array_count; i++) {
        char *part = s->state + at, *name = part + strlen(c->arrays[i].part) + 1;

        (void)strcpy(part, c->arrays[i].part);
        (void)strcpy(name, c->arrays[i].name);
        at += text_bytes(&c->arrays[i]);
        c->arrays[i].part = part;
        c->arrays[i].name = name;
    }
    return DDP_OK;
}

ddp_status ddp_snapshot_open(ddp_snapshot **out, ddp_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? DDP_OK : no_memory(err);
}

void ddp_snapshot_close(ddp_snapshot *s)
{
    if (!s)
        return;
    free(s->checkpoint.arrays);
    free(s->weights);
    free(s->state);
    free(s);
}

ddp_status ddp_snapshot_take(ddp_snapshot *s, network *net, int cutoff,
                             const ddp_checkpoint_run *run, ddp_error *err)
{
    ddp_table table = {0};
    ddp_status st;

    free(s->checkpoint.arrays);
    s->cutoff = cutoff;
    st = look_at(&s->checkpoint, &table, net, cutoff, run, err);
    if (!st)
        st = copy_weights(s, net, &table, cutoff, err);
    if (!st)
        st = copy_arrays(s, err);
    ddp_table_release(&table);
    return st;
}

ddp_status ddp_checkpoint_is_of(const ddp_checkpoint_metadata *m, network *net,
                                const ddp_checkpoint_run *run, int *same, ddp_error *err)
{
    ddp_table table = {0};
    ddp_status st = DDP_OK;

    *same = 0;
    if (m->seen != *net->seen || m->t != (uint64_t)*net->t)
        return DDP_OK;
    if (ddp_table_init(&table, net, ddp_device_host(), err)
        || ddp_table_pull(&table, net, run->device, err))
        st = err->code;
    else
        *same = m->values_hash == ddp_table_hash(&table);
    ddp_table_release(&table);
    return st;
}

ddp_status ddp_snapshot_is_of(const ddp_snapshot *s, network *net, int cutoff,
                              const ddp_checkpoint_run *run, int *same, ddp_error *err)
{
    *same = 0;
    if (cutoff != s->cutoff)
        return DDP_OK;
    return ddp_checkpoint_is_of(&s->checkpoint.metadata, net, run, same, err);
}

static void write_bytes(void *ctx, FILE *fp)
{
    const ddp_snapshot *s = ctx;

    (void)fwrite(s->weights, 1, s->weights_bytes, fp);
}

ddp_status ddp_snapshot_write(ddp_snapshot *s, const char *path, ddp_error *err)
{
    const ddp_weights_writer writer = {write_bytes, s};

    return ddp_pair_save(path, &s->checkpoint, &writer, err);
}

uint64_t ddp_snapshot_saved_at_ns(const ddp_snapshot *s)
{
    return s->checkpoint.metadata.saved_at_ns;
}
