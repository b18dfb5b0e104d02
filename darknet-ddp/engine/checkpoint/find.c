/* Finds the newest whole pair (a weights file and its state file) in a folder. Also removes all but
 * the last numbered pairs (-keep), and cuts the state file of an older pair down to its header.
 * find.h has the rules. */
#include "checkpoint/find.h"

#include "checkpoint/candidates.h"
#include "checkpoint/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ddp_start ddp_start_of(ddp_there there, int force)
{
    static const ddp_start rows[][2] = {
#define START(id, there, begins, resume, force)                                                    \
    [DDP_THERE_##id] = {DDP_START_##resume, DDP_START_##force},
#include "checkpoint/starts.def"
    };

    return rows[there][force != 0];
}

static ddp_status check_base(const struct ddp_candidate *c, const char *base, ddp_error *err)
{
    ddp_checkpoint_metadata wanted;

    ddp_checkpoint_set_base(&wanted, base);
    if (strcmp(c->metadata.base, wanted.base) != 0)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s is of %s, not of %s", c->state, c->metadata.base,
                        wanted.base);
    return DDP_OK;
}

static ddp_status check_finite(const ddp_pair *pair, const struct ddp_candidate *c, ddp_error *err)
{
    if (ddp_checkpoint_check_finite(&pair->checkpoint, err))
        return ddp_wrap(err, "%s", c->state);
    return ddp_match_check_finite(c->weights, err);
}

/* fault: what is wrong with a pair that is not taken; NOTHING where it is another cfg's. */
static ddp_status try(ddp_pair *out, const struct ddp_candidate *c, const char *base,
                      ddp_there *fault, ddp_error *err)
{
    ddp_status st = c->status;

    *fault = DDP_THERE_DAMAGED;
    if (st) {
        *err = c->error;
        return st;
    }
    st = check_base(c, base, err);
    if (st)
        *fault = DDP_THERE_NOTHING;
    if (!st)
        st = ddp_checkpoint_read(&out->checkpoint, c->state, err);
    if (!st)
        st = ddp_match_check_weights(c->weights, &out->checkpoint.metadata, err);
    if (!st) {
        st = check_finite(out, c, err);
        *fault = st == DDP_ERR_FORMAT ? DDP_THERE_NOT_FINITE : DDP_THERE_DAMAGED;
    }
    if (st)
        ddp_checkpoint_release(&out->checkpoint);
    return st;
}

/* Is it the part of an interrupted save of which nobody need hear? Not where its weights file is
 * there and no other state file is of that. */
static int is_litter(const struct ddp_candidates *all, const struct ddp_candidate *c)
{
    if (!c->is_part)
        return 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].state && !all->list[i].is_part
            && strcmp(all->list[i].weights, c->weights) == 0)
            return 1;
    return access(c->weights, F_OK) != 0;
}

static void tell(const ddp_pair_listener *listener, const char *weights, const ddp_error *why)
{
    char sentence[sizeof why->text + 256];

    (void)snprintf(sentence, sizeof sentence, "skipped %.200s: %s", weights, why->text);
    listener->note(listener->ctx, sentence);
}

/* c is the newest whole pair. That its save cannot be finished, say in a directory that
 * cannot be written, is no reason not to read it. */
static void take(ddp_pair *out, struct ddp_candidate *c)
{
    ddp_error ignored;

    free(out->weights);
    out->there = DDP_THERE_WHOLE;
    out->weights = c->weights;
    c->weights = NULL;
    if (c->is_part)
        (void)!ddp_match_finish_save(out->weights, &ignored);
}

/* c is the first that is not taken, and so what is there if no pair is whole. */
static void note_fault(ddp_pair *out, struct ddp_candidate *c, ddp_there fault,
                       const ddp_error *why)
{
    int names_weights = strncmp(why->text, c->weights, strlen(c->weights)) == 0;

    out->there = fault;
    (void)ddp_fail(&out->why, DDP_ERR_FORMAT, "no checkpoint is left to resume from: %s%.200s%s%s",
                   names_weights ? "" : "of ", names_weights ? "" : c->weights,
                   names_weights ? "" : ", ", why->text);
    if (fault == DDP_THERE_DAMAGED)
        out->weights = strdup(c->weights);
}

/* Does one name begin with the other and "_"? Such cfgs share names of files, x_2.weights say. */
static int share_names(const char *a, const char *b)
{
    size_t length = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

    return strncmp(a, b, length) == 0 && (a[length] == '_' || b[length] == '_');
}

/* A cfg was renamed with its files, which still know the old name. */
static void look_for_renamed(ddp_pair *out, const struct ddp_candidates *all, const char *base)
{
    ddp_error ignored;

    for (size_t i = 0; i < all->count && !out->there; i++) {
        const struct ddp_candidate *c = &all->list[i];

        if (c->status || c->is_part || !check_base(c, base, &ignored)
            || share_names(c->metadata.base, base))
            continue;
        out->there = DDP_THERE_RENAMED;
        (void)ddp_fail(&out->why, DDP_ERR_USAGE,
                       "nothing to resume of %s: %s is of %s, as its state file says", base,
                       c->weights, c->metadata.base);
    }
}

/* The first pair that is whole. */
static ddp_status pick(ddp_pair *out, struct ddp_candidates *all, const char *base,
                       const ddp_pair_listener *listener, ddp_error *err)
{
    for (size_t i = 0; i < all->count && !all->list[i].is_bare; i++) {
        struct ddp_candidate *c = &all->list[i];
        ddp_error why;
        ddp_there fault;
        ddp_status st = try(out, c, base, &fault, &why);

        if (st == DDP_ERR_NOMEM)
            return ddp_fail(err, st, "%s", why.text);
        if (!st) {
            take(out, c);
            return DDP_OK;
        }
        if (is_litter(all, c))
            continue;
        tell(listener, c->weights, &why);
        out->passed_over += fault != DDP_THERE_NOTHING;
        if (!out->there && fault && access(c->weights, F_OK) == 0)
            note_fault(out, c, fault, &why);
    }
    return DDP_OK;
}

/* Weights without a state: another program's, copied alone, or numbered ones. Beside a whole pair
 * those are told that count more images; without any pair those win that count most. */
static void look_at_bare_weights(ddp_pair *out, struct ddp_candidates *all, const char *base,
                                 const ddp_pair_listener *listener)
{
    int is_whole = out->there == DDP_THERE_WHOLE;
    uint64_t seen = is_whole ? ddp_match_images_seen(out->weights) : 0;
    struct ddp_candidate *most = NULL;
    ddp_error ignored;

    for (size_t i = 0; i < all->count; i++) {
        struct ddp_candidate *c = &all->list[i];

        if (!c->is_bare
            || (c->state && (check_base(c, base, &ignored) || access(c->weights, F_OK) != 0)))
            continue;
        if (is_whole && c->seen > seen) {
            tell(listener, c->weights, &c->error);
            out->passed_over++;
        }
        if ((c->state || !c->is_numbered) && (!most || c->seen > most->seen))
            most = c;
    }
    if (out->there || !most)
        return;
    out->there = DDP_THERE_BARE;
    out->weights = most->weights;
    most->weights = NULL;
    (void)ddp_fail(&out->why, DDP_ERR_FORMAT,
                   "nothing can be resumed from %s: %s, so its momentum, average loss and seed are "
                   "not known",
                   out->weights, most->error.text);
}

ddp_status ddp_pair_find(ddp_pair *out, const char *directory, const char *base,
                         const ddp_pair_listener *listener, ddp_error *err)
{
    struct ddp_candidates all = {0};
    ddp_status st;

    *out = (ddp_pair){0};
    st = ddp_candidates_list(&all, directory, base, err);
    if (!st)
        st = pick(out, &all, base, listener, err);
    if (!st)
        look_at_bare_weights(out, &all, base, listener);
    if (!st)
        look_for_renamed(out, &all, base);
    ddp_candidates_release(&all);
    return st;
}

void ddp_pair_release(ddp_pair *p)
{
    free(p->weights);
    ddp_checkpoint_release(&p->checkpoint);
    *p = (ddp_pair){0};
}

/* ---- removing ---- */

static ddp_status remove_file(const char *path, ddp_error *err)
{
    if (unlink(path) && errno != ENOENT)
        return ddp_fail(err, DDP_ERR_IO, "cannot remove %s: %s", path, strerror(errno));
    return DDP_OK;
}

/* The state file is removed last: a process that dies in between finds the rest of the pair by it
 * next time. */
static ddp_status remove_pair(const struct ddp_candidate *c, ddp_error *err)
{
    char *part = ddp_state_part_path(c->weights);

    if (!part)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", c->weights);
    if (remove_file(c->weights, err) || remove_file(c->state, err)) {
        free(part);
        return err->code;
    }
    (void)unlink(part);
    free(part);
    return DDP_OK;
}

/* Has it done as many batches or, a classifier, epochs? A save that waits has done more. A copy of
 * a user's own, with its date say, has not. */
static int has_its_number(const struct ddp_candidate *c, const char *base)
{
    const char *slash = strrchr(c->weights, '/');
    uint64_t number = strtoull(slash + 1 + strlen(base) + 1, NULL, 10);
    const ddp_checkpoint_metadata *m = &c->metadata;

    return number <= m->step || (m->list_count > 0 && number <= m->seen / m->list_count);
}

/* Leave the header alone of a state file. If that cannot be written, it stays as it is until the
 * next save. */
static void reduce_state(const char *state, const ddp_checkpoint_metadata *metadata)
{
    const ddp_checkpoint header = {.metadata = *metadata, .cfg = ""};
    ddp_file_checksum sum;
    ddp_error ignored;
    ddp_file *f;
    int renamed;

    if (ddp_file_create(&f, state, &ignored))
        return;
    if (ddp_checkpoint_write(&header, f, &ignored) || ddp_file_finish(f, &sum, &ignored))
        ddp_file_abandon(f);
    else
        (void)!ddp_file_publish(f, &renamed, &ignored);
}

void ddp_pair_reduce(const char *weights)
{
    char *state = ddp_state_path(weights);
    ddp_checkpoint_metadata metadata;
    ddp_error ignored;

    if (state && !ddp_checkpoint_peek(&metadata, state, &ignored))
        reduce_state(state, &metadata);
    free(state);
}

ddp_status ddp_pair_prune(const char *directory, const char *base, size_t keep, ddp_error *err)
{
    struct ddp_candidates all = {0};
    ddp_status st = ddp_candidates_list(&all, directory, base, err);
    size_t kept = 0;
    ddp_error why;

    if (st == DDP_ERR_IO && access(directory, F_OK) && errno == ENOENT)
        st = DDP_OK; /* somebody has removed the directory: the next save makes it again */
    for (size_t i = 0; !st && i < all.count; i++) {
        const struct ddp_candidate *c = &all.list[i];

        if (!c->state || c->status || c->is_part || check_base(c, base, &why))
            continue;
        if (c->is_numbered && has_its_number(c, base)) {
            if (kept++ >= keep && !ddp_match_check_weights(c->weights, &c->metadata, &why))
                st = remove_pair(c, err); /* other weights in their place are the user's */
            else if (kept > 1 && !c->is_bare)
                reduce_state(c->state, &c->metadata);
        }
    }
    ddp_candidates_release(&all);
    return st;
}

ddp_status ddp_pair_latest(ddp_pair_header *out, const char *directory, const char *base,
                           ddp_error *err)
{
    struct ddp_candidates all = {0};
    ddp_status st = ddp_candidates_list(&all, directory, base, err);
    ddp_error ignored;

    *out = (ddp_pair_header){0};
    for (size_t i = 0; !st && i < all.count && !out->weights; i++) {
        struct ddp_candidate *c = &all.list[i];

        if (!c->status && !out->newest_saved_at_ns)
            out->newest_saved_at_ns = c->metadata.saved_at_ns;
        if (c->status || check_base(c, base, &ignored) || access(c->weights, F_OK) != 0
            || (c->is_part && ddp_match_check_weights(c->weights, &c->metadata, &ignored)))
            continue;
        out->weights = c->weights;
        out->step = c->metadata.step;
        out->seen = c->metadata.seen;
        out->saved_at_ns = c->metadata.saved_at_ns;
        c->weights = NULL;
    }
    ddp_candidates_release(&all);
    return st;
}
