/* Writes a pair, a weights file X and its state file. ddp_pair_write writes both files under
 * temporary names. ddp_pair_finish renames three times: the state to X.state.part, the weights to
 * X, and X.state.part to X.state. checkpoint/pair.h says why in this order. */
#include "checkpoint/pair.h"

#include "base/clock.h"
#include "checkpoint/match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t later_than(uint64_t ns)
{
    uint64_t now_ns = (uint64_t)ddp_clock_unix_ns();

    return now_ns > ns ? now_ns : ns + 1;
}

struct ddp_pair_writing {
    ddp_checkpoint_metadata metadata;
    const ddp_checkpoint_guard *guard;
    char *path, *state, *part;      /* X, X.state, X.state.part */
    ddp_file *weights, *state_part; /* to become X and X.state.part; NULL: they have */
};

static ddp_status write_weights(ddp_pair_writing *w, ddp_checkpoint *c,
                                const ddp_weights_writer *weights, ddp_error *err)
{
    ddp_file_checksum sum;

    if (ddp_file_create(&w->weights, w->path, err))
        return err->code;
    weights->write(weights->ctx, ddp_file_stream(w->weights));
    sum = ddp_file_written(w->weights);
    c->metadata.weights_bytes = sum.bytes;
    c->metadata.weights_hash = sum.hash;
    w->metadata = c->metadata;
    return DDP_OK;
}

/* Write both files with the time of saving that c already has: the weights first, for the state has
 * their hash. */
static ddp_status write_pair(ddp_pair_writing **out, const char *path, ddp_checkpoint *c,
                             const ddp_weights_writer *weights, ddp_error *err)
{
    ddp_pair_writing *w = calloc(1, sizeof *w);

    *out = w;
    if (w) {
        w->path = strdup(path);
        w->state = ddp_state_path(path);
        w->part = ddp_state_part_path(path);
        w->guard = c->guard;
    }
    if (!w || !w->path || !w->state || !w->part)
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    else if (!write_weights(w, c, weights, err) && !ddp_file_create(&w->state_part, w->part, err)
             && !ddp_checkpoint_write(c, w->state_part, err))
        return DDP_OK;
    *out = NULL;
    ddp_pair_abandon(w);
    return err->code;
}

ddp_status ddp_pair_write(ddp_pair_writing **out, const char *path, ddp_checkpoint *c,
                          const ddp_weights_writer *weights, ddp_error *err)
{
    c->metadata.saved_at_ns = later_than(c->metadata.saved_at_ns);
    return write_pair(out, path, c, weights, err);
}

const ddp_checkpoint_metadata *ddp_pair_metadata(const ddp_pair_writing *w)
{
    return &w->metadata;
}

/* Give X.state.part its name, and make it and that of the weights' part last. */
static ddp_status publish_state(ddp_pair_writing *w, ddp_error *err)
{
    int renamed;
    ddp_status st = ddp_file_publish(w->state_part, &renamed, err);

    w->state_part = NULL;
    if (st && renamed)
        (void)unlink(w->part);
    return st;
}

/* From the first rename on X.state.part is needed: it is the state of the new X. */
static ddp_status publish(ddp_pair_writing *w, ddp_error *err)
{
    int renamed;
    ddp_status st = ddp_file_publish(w->weights, &renamed, err);

    w->weights = NULL;
    if (!renamed)
        (void)unlink(w->part);
    return st ? st : ddp_file_rename(w->part, w->state, &renamed, err);
}

ddp_status ddp_pair_finish(ddp_pair_writing *w, ddp_error *err)
{
    ddp_file_checksum sum;
    ddp_status st = ddp_match_finish_save(w->path, err);

    if (!st)
        st = ddp_file_finish(w->weights, &sum, err);
    if (!st)
        st = ddp_file_finish(w->state_part, &sum, err);
    if (!st)
        st = publish_state(w, err);
    if (!st && w->guard) {
        st = w->guard->make_room(w->guard->ctx, w->path, err);
        if (st)
            (void)unlink(w->part);
    }
    if (!st)
        st = publish(w, err);
    ddp_pair_abandon(w);
    return st;
}

void ddp_pair_abandon(ddp_pair_writing *w)
{
    if (!w)
        return;
    ddp_file_abandon(w->state_part);
    ddp_file_abandon(w->weights);
    free(w->path);
    free(w->state);
    free(w->part);
    free(w);
}

ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err)
{
    ddp_pair_writing *w;
    ddp_status st = ddp_pair_write(&w, path, c, weights, err);

    return st ? st : ddp_pair_finish(w, err);
}

/* ---- the same again ---- */

static void copy_stream(void *ctx, FILE *to)
{
    char block[1 << 16];
    size_t bytes;

    while ((bytes = fread(block, 1, sizeof block, ctx)) > 0)
        (void)fwrite(block, 1, bytes, to);
}

static ddp_status copy(const char *path, ddp_checkpoint *c, FILE *from, ddp_error *err)
{
    const ddp_weights_writer writer = {copy_stream, from};
    uint64_t bytes = c->metadata.weights_bytes, hash = c->metadata.weights_hash;
    ddp_pair_writing *w;

    if (write_pair(&w, path, c, &writer, err))
        return err->code;
    if (c->metadata.weights_bytes == bytes && c->metadata.weights_hash == hash)
        return ddp_pair_finish(w, err);
    ddp_pair_abandon(w);
    if (ferror(from))
        return ddp_fail(err, DDP_ERR_IO, "cannot read all of it");
    return ddp_fail(err, DDP_ERR_IO, "its weights are not those that its state describes");
}

static ddp_status copy_pair(const char *path, const char *from, const char *state,
                            uint64_t saved_at_ns, const ddp_checkpoint_guard *guard, ddp_error *err)
{
    FILE *weights = fopen(from, "rbe");
    ddp_checkpoint c = {0};
    ddp_status st = DDP_OK;

    if (!weights)
        st = ddp_fail(err, DDP_ERR_IO, "cannot read it: %s", strerror(errno));
    else
        st = ddp_checkpoint_read(&c, state, err);
    if (!st && c.metadata.saved_at_ns != saved_at_ns)
        st = ddp_fail(err, DDP_ERR_IO, "it was not saved");
    c.guard = guard;
    if (!st)
        st = copy(path, &c, weights, err);
    if (weights)
        (void)fclose(weights);
    ddp_checkpoint_release(&c);
    return st;
}

ddp_status ddp_pair_copy(const char *path, const char *from, uint64_t saved_at_ns,
                         const ddp_checkpoint_guard *guard, ddp_error *err)
{
    char *state = ddp_state_path(from);
    ddp_status st = state ? copy_pair(path, from, state, saved_at_ns, guard, err)
                          : ddp_fail(err, DDP_ERR_NOMEM, "no memory");

    free(state);
    return st ? ddp_wrap(err, "cannot write %s, as a copy of %s", path, from) : DDP_OK;
}
