#include "checkpoint/pair.h"

#include "checkpoint/match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* ---- which state belongs to a weights file ---- */

char *ddp_state_path(const char *weights)
{
    char *path;

    return asprintf(&path, "%s.state", weights) < 0 ? NULL : path;
}

ddp_status ddp_match_weights(const char *weights, const ddp_checkpoint_facts *facts, ddp_error *err)
{
    ddp_file_sum sum;

    if (ddp_file_sum_of(weights, &sum, err))
        return err->code;
    if (sum.bytes != facts->weights_bytes)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s has %" PRIu64 " bytes, its state says %" PRIu64,
                        weights, sum.bytes, facts->weights_bytes);
    if (sum.hash != facts->weights_hash)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s is not the file that its state describes",
                        weights);
    return DDP_OK;
}

/* Is state whole, and of this weights file? */
static ddp_status match(const char *weights, const char *state, ddp_error *err)
{
    ddp_checkpoint c;
    ddp_status st = ddp_checkpoint_read(&c, state, err);

    if (!st)
        st = ddp_match_weights(weights, &c.facts, err);
    ddp_checkpoint_release(&c);
    return st;
}

static ddp_status promote(const char *weights, const char *state, ddp_error *err)
{
    ddp_error why;
    ddp_checkpoint_facts facts;
    char *part;
    int renamed;
    ddp_status st;

    if (asprintf(&part, "%s.part", state) < 0)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", state);
    st = ddp_checkpoint_peek(&facts, part, &why); /* mostly it is not there */
    if (!st)
        st = match(weights, part, &why);
    free(part);
    if (st == DDP_ERR_NOMEM)
        return ddp_fail(err, st, "%s", why.text);
    if (st || match(weights, state, &why) == DDP_OK)
        return DDP_OK;
    return ddp_file_publish(state, &renamed, err);
}

ddp_status ddp_match_promote(const char *weights, ddp_error *err)
{
    char *state = ddp_state_path(weights);
    ddp_status st;

    if (!state)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", weights);
    st = promote(weights, state, err);
    free(state);
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

static ddp_status write_weights_part(const char *path, ddp_checkpoint *c,
                                     const ddp_weights_writer *weights, ddp_error *err)
{
    ddp_file_sum sum;
    ddp_file *f;

    if (ddp_file_create(&f, path, err))
        return err->code;
    weights->write(weights->ctx, ddp_file_stream(f));
    if (ddp_file_finish(f, &sum, err))
        return err->code;
    c->facts.weights_bytes = sum.bytes;
    c->facts.weights_hash = sum.hash;
    return DDP_OK;
}

static ddp_status write_state_part(const char *path, const ddp_checkpoint *c, ddp_error *err)
{
    ddp_file_sum sum;
    ddp_file *f;

    if (ddp_file_create(&f, path, err))
        return err->code;
    if (ddp_checkpoint_write(c, f, err)) {
        ddp_file_abandon(f);
        return err->code;
    }
    return ddp_file_finish(f, &sum, err);
}

/* From the first rename on X.state.part is needed: it is the state of the new X. */
static ddp_status publish(const char *path, const char *state, ddp_error *err)
{
    int renamed = 0;
    ddp_status st = ddp_file_sync_directory(path, err);

    if (!st)
        st = ddp_file_publish(path, &renamed, err);
    if (!st)
        return ddp_file_publish(state, &renamed, err);
    if (!renamed) {
        ddp_file_discard(path);
        ddp_file_discard(state);
    }
    return st;
}

static ddp_status save(const char *path, const char *state, ddp_checkpoint *c,
                       const ddp_weights_writer *weights, ddp_error *err)
{
    ddp_status st = ddp_match_promote(path, err);

    if (!st)
        st = write_weights_part(path, c, weights, err);
    if (st)
        return st;
    c->facts.saved_at_ns = later_than(c->facts.saved_at_ns);
    st = write_state_part(state, c, err);
    if (!st)
        return publish(path, state, err);
    ddp_file_discard(path);
    return st;
}

ddp_status ddp_pair_save(const char *path, ddp_checkpoint *c, const ddp_weights_writer *weights,
                         ddp_error *err)
{
    char *state = ddp_state_path(path);
    ddp_status st;

    if (!state)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    st = save(path, state, c, weights, err);
    free(state);
    return st;
}
