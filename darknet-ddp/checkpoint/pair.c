#include "checkpoint/pair.h"

#include "checkpoint/match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- which state belongs to a weights file ---- */

char *ddp_state_path(const char *weights)
{
    char *path;

    return asprintf(&path, "%s.state", weights) < 0 ? NULL : path;
}

ddp_status ddp_match_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                             ddp_error *err)
{
    ddp_file_checksum sum;

    if (ddp_file_checksum_of(weights, &sum, err))
        return err->code;
    if (sum.bytes != metadata->weights_bytes)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s has %" PRIu64 " bytes, its state says %" PRIu64,
                        weights, sum.bytes, metadata->weights_bytes);
    if (sum.hash != metadata->weights_hash)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s is not the file that its state describes",
                        weights);
    return DDP_OK;
}

char *ddp_state_part_path(const char *weights)
{
    char *path;

    return asprintf(&path, "%s.state.part", weights) < 0 ? NULL : path;
}

/* Is state whole, and of this weights file? */
static ddp_status match(const char *weights, const char *state, ddp_error *err)
{
    ddp_checkpoint c;
    ddp_status st = ddp_checkpoint_read(&c, state, err);

    if (!st)
        st = ddp_match_weights(weights, &c.metadata, err);
    ddp_checkpoint_release(&c);
    return st;
}

static ddp_status promote(const char *weights, const char *state, const char *part, ddp_error *err)
{
    ddp_error why;
    ddp_checkpoint_metadata metadata;
    int renamed;
    ddp_status st = ddp_checkpoint_peek(&metadata, part, &why); /* mostly it is not there */

    if (!st)
        st = match(weights, part, &why);
    if (st == DDP_ERR_NOMEM)
        return ddp_fail(err, st, "%s", why.text);
    if (st || match(weights, state, &why) == DDP_OK)
        return DDP_OK;
    return ddp_file_rename(part, state, &renamed, err);
}

ddp_status ddp_match_promote(const char *weights, ddp_error *err)
{
    char *state = ddp_state_path(weights), *part = ddp_state_part_path(weights);
    ddp_status st;

    if (state && part)
        st = promote(weights, state, part, err);
    else
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", weights);
    free(state);
    free(part);
    return st;
}

/* ---- saving ---- */

static uint64_t later_than(uint64_t ns)
{
    struct timespec now;
    uint64_t now_ns;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    now_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    return now_ns > ns ? now_ns : ns + 1;
}

/* *f is set, finished, on success. */
static ddp_status write_weights(ddp_file **f, const char *path, ddp_checkpoint *c,
                                const ddp_weights_writer *weights, ddp_error *err)
{
    ddp_file_checksum sum;

    if (ddp_file_create(f, path, err))
        return err->code;
    weights->write(weights->ctx, ddp_file_stream(*f));
    if (ddp_file_finish(*f, &sum, err)) {
        ddp_file_abandon(*f);
        *f = NULL;
        return err->code;
    }
    c->metadata.weights_bytes = sum.bytes;
    c->metadata.weights_hash = sum.hash;
    return DDP_OK;
}

/* Write X.state.part, and make its name and that of the weights' part last. */
static ddp_status write_state(const char *path, const ddp_checkpoint *c, ddp_error *err)
{
    ddp_file_checksum sum;
    ddp_file *f;
    int renamed;

    if (ddp_file_create(&f, path, err))
        return err->code;
    if (ddp_checkpoint_write(c, f, err) || ddp_file_finish(f, &sum, err)) {
        ddp_file_abandon(f);
        return err->code;
    }
    if (ddp_file_publish(f, &renamed, err) == DDP_OK)
        return DDP_OK;
    if (renamed)
        (void)unlink(path);
    return err->code;
}

/* From the first rename on X.state.part is needed: it is the state of the new X. */
static ddp_status publish(ddp_file *weights, const char *state, const char *part, ddp_error *err)
{
    int renamed;
    ddp_status st = ddp_file_publish(weights, &renamed, err);

    if (!renamed)
        (void)unlink(part);
    return st ? st : ddp_file_rename(part, state, &renamed, err);
}

static ddp_status save(const char *path, const char *state, const char *part, ddp_checkpoint *c,
                       const ddp_weights_writer *writer, ddp_error *err)
{
    ddp_file *weights;

    if (ddp_match_promote(path, err) || write_weights(&weights, path, c, writer, err))
        return err->code;
    c->metadata.saved_at_ns = later_than(c->metadata.saved_at_ns);
    if (write_state(part, c, err)) {
        ddp_file_abandon(weights);
        return err->code;
    }
    return publish(weights, state, part, err);
}

ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err)
{
    char *state = ddp_state_path(path), *part = ddp_state_part_path(path);
    ddp_status st;

    if (state && part)
        st = save(path, state, part, c, weights, err);
    else
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    free(state);
    free(part);
    return st;
}
