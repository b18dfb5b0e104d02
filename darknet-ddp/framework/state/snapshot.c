#include "state/snapshot.h"

#include "checkpoint/pair.h"
#include "glue/param_table.h"

#include <darknet.h>
#include <stdlib.h>
#include <string.h>

struct ddp_snapshot {
    ddp_checkpoint checkpoint; /* its arrays lie in `state` */
    int cutoff;
    char *weights; /* the bytes of the weights file */
    size_t weights_bytes, weights_room;
    int weights_failed;
    char *state;
    size_t state_room;
};

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

static ddp_status copy_weights(ddp_snapshot *s, network *net, const ddp_param_table *table,
                               int cutoff, ddp_error *err)
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

static ddp_status copy_arrays(ddp_snapshot *s, ddp_error *err)
{
    ddp_checkpoint *c = &s->checkpoint;
    size_t bytes = 0, at = 0;

    for (size_t i = 0; i < c->array_count; i++)
        bytes += c->arrays[i].count * sizeof(float);
    if (!reserve(&s->state, &s->state_room, bytes + 1))
        return no_memory(err);
    for (size_t i = 0; i < c->array_count; i++) {
        size_t size = c->arrays[i].count * sizeof(float);

        memcpy(s->state + at, c->arrays[i].data, size);
        c->arrays[i].data = s->state + at;
        at += size;
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
    ddp_param_table table = {0};
    ddp_status st;

    free(s->checkpoint.arrays);
    s->cutoff = cutoff;
    st = ddp_checkpoint_of_network(&s->checkpoint, &table, net, cutoff, run, err);
    if (!st)
        st = copy_weights(s, net, &table, cutoff, err);
    if (!st)
        st = copy_arrays(s, err);
    ddp_param_table_release(&table);
    return st;
}

ddp_status ddp_snapshot_matches(const ddp_snapshot *s, network *net, int cutoff,
                                const ddp_checkpoint_run *run, int *same, ddp_error *err)
{
    *same = 0;
    if (cutoff != s->cutoff)
        return DDP_OK;
    return ddp_checkpoint_matches(&s->checkpoint.metadata, net, run, same, err);
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
