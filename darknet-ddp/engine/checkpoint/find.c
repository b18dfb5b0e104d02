/* Finding pairs in a directory: the newest whole one, and those to remove. */
#include "checkpoint/find.h"

#include "checkpoint/match.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* A state file and the weights file that it would belong to, or weights without a state file. */
struct candidate {
    char *weights, *state; /* paths; state is NULL where there is none */
    int is_part;           /* X.state.part */
    int is_numbered;       /* BASE_<number>.weights */
    ddp_checkpoint_metadata metadata;
    ddp_status status; /* of reading the metadata */
    ddp_error error;
    /* How new weights are whose state does not tell: by the images that they count, then by the
     * file system's clock, which copying changes. */
    uint64_t seen;
    struct timespec time;
};

struct candidates {
    struct candidate *list;
    size_t count, room;
};

static void release(struct candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].weights);
        free(all->list[i].state);
    }
    free(all->list);
}

/* ---- listing ---- */

static struct candidate *new_candidate(struct candidates *all)
{
    if (all->count == all->room) {
        size_t room = all->room * 2 + 16;
        struct candidate *list = reallocarray(all->list, room, sizeof *list);

        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    all->list[all->count] = (struct candidate){0};
    return &all->list[all->count++];
}

/* Read how new the weights are. */
static void read_age(struct candidate *c)
{
    struct stat info;

    if (stat(c->weights, &info))
        return;
    c->seen = ddp_match_seen(c->weights);
    c->time = info.st_mtim;
}

/* weights: the name of the state file without its end. state: NULL where there is none. */
static ddp_status add(struct candidates *all, const char *directory, const char *base,
                      const char *weights, const char *state, ddp_error *err)
{
    struct candidate *c = new_candidate(all);

    if (!c || asprintf(&c->weights, "%s/%s", directory, weights) < 0
        || (state && asprintf(&c->state, "%s/%s", directory, state) < 0))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %s", directory);
    c->is_part = state && ddp_match_is_part(state);
    c->is_numbered = ddp_match_is_numbered(weights, base);
    c->status =
        state ? ddp_checkpoint_peek(&c->metadata, c->state, &c->error)
              : ddp_fail(&c->error, DDP_ERR_FORMAT, "it has no state file (%s.state)", c->weights);
    if (c->status)
        read_age(c);
    return DDP_OK;
}

static int has_state(const char *directory, const char *weights)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s.state", directory, weights);
    return access(path, F_OK) == 0;
}

/* Add a file of base's. */
static ddp_status add_if_its(struct candidates *all, const char *directory, const char *base,
                             const char *name, ddp_error *err)
{
    char weights[NAME_MAX + 1];
    int is_state = ddp_match_weights_name(weights, sizeof weights, name);

    if (is_state && ddp_match_is_weights(weights, base))
        return add(all, directory, base, weights, name, err);
    if (!is_state && ddp_match_is_of_run(directory, name, base) && !has_state(directory, name))
        return add(all, directory, base, name, NULL, err);
    return DDP_OK;
}

/* First those whose header is damaged, then those whose header tells when they were saved, then
 * weights without a state. */
static int rank_of(const struct candidate *c)
{
    return !c->state ? 2 : c->status ? 0 : 1;
}

static int later(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

/* Newest first. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = rank_of(x) - rank_of(y);

    if (!order && !x->status)
        order = later(x->metadata.saved_at_ns, y->metadata.saved_at_ns);
    if (!order && !x->status)
        order = later(x->metadata.step, y->metadata.step);
    if (!order)
        order = later(x->seen, y->seen);
    if (!order)
        order = later((uint64_t)x->time.tv_sec, (uint64_t)y->time.tv_sec);
    if (!order)
        order = later((uint64_t)x->time.tv_nsec, (uint64_t)y->time.tv_nsec);
    if (!order)
        order = strcmp(x->weights, y->weights);
    return order ? order : x->is_part - y->is_part;
}

static ddp_status list(struct candidates *all, const char *directory, const char *base,
                       ddp_error *err)
{
    DIR *dir = opendir(directory);
    ddp_status st = DDP_OK;
    struct dirent *entry;

    if (!dir)
        return ddp_fail(err, DDP_ERR_IO, "cannot read directory %s: %s", directory,
                        strerror(errno));
    while (!st && (errno = 0, entry = readdir(dir)) != NULL)
        st = add_if_its(all, directory, base, entry->d_name, err);
    if (!st && errno)
        st = ddp_fail(err, DDP_ERR_IO, "cannot read directory %s: %s", directory, strerror(errno));
    (void)closedir(dir);
    if (!st && all->count > 0)
        qsort(all->list, all->count, sizeof *all->list, compare);
    return st;
}

/* ---- finding ---- */

static ddp_status check_base(const struct candidate *c, const char *base, ddp_error *err)
{
    ddp_checkpoint_metadata wanted;

    ddp_checkpoint_set_base(&wanted, base);
    if (strcmp(c->metadata.base, wanted.base) != 0)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s is of %s, not of %s", c->state, c->metadata.base,
                        wanted.base);
    return DDP_OK;
}

static ddp_status check_finite(const ddp_pair *pair, const struct candidate *c, ddp_error *err)
{
    if (ddp_checkpoint_check_finite(&pair->checkpoint, err))
        return ddp_wrap(err, "%s", c->state);
    return ddp_match_finite(c->weights, err);
}

/* fault: what is wrong with a pair that is not taken; NOTHING where it is another cfg's. */
static ddp_status try(ddp_pair *out, const struct candidate *c, const char *base, ddp_there *fault,
                      ddp_error *err)
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
        st = ddp_match_weights(c->weights, &out->checkpoint.metadata, err);
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
static int is_litter(const struct candidates *all, const struct candidate *c)
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
static void take(ddp_pair *out, struct candidate *c)
{
    ddp_error ignored;

    free(out->weights);
    out->there = DDP_THERE_WHOLE;
    out->weights = c->weights;
    c->weights = NULL;
    if (c->is_part)
        (void)!ddp_match_promote(out->weights, &ignored);
}

/* c is the first that is not taken, and so what is there if no pair is whole. */
static void note_fault(ddp_pair *out, struct candidate *c, ddp_there fault, const ddp_error *why)
{
    int names_weights = strncmp(why->text, c->weights, strlen(c->weights)) == 0;

    out->there = fault;
    (void)ddp_fail(&out->why, DDP_ERR_FORMAT, "no checkpoint is left to resume from: %s%.200s%s%s",
                   names_weights ? "" : "of ", names_weights ? "" : c->weights,
                   names_weights ? "" : ", ", why->text);
    if (fault == DDP_THERE_DAMAGED)
        out->weights = strdup(c->weights);
}

/* The first pair that is whole. */
static ddp_status pick(ddp_pair *out, struct candidates *all, const char *base,
                       const ddp_pair_listener *listener, ddp_error *err)
{
    for (size_t i = 0; i < all->count && all->list[i].state; i++) {
        struct candidate *c = &all->list[i];
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

/* Weights without a state file: another program's, or copied alone. Beside a whole pair those are
 * told that count more images. */
static void look_at_bare_weights(ddp_pair *out, struct candidates *all,
                                 const ddp_pair_listener *listener)
{
    uint64_t seen = out->there == DDP_THERE_WHOLE ? ddp_match_seen(out->weights) : 0;

    for (size_t i = 0; i < all->count; i++) {
        struct candidate *c = &all->list[i];

        if (c->state)
            continue;
        if (out->there == DDP_THERE_WHOLE && c->seen > seen) {
            tell(listener, c->weights, &c->error);
            out->passed_over++;
        }
        if (out->there || c->is_numbered)
            continue;
        out->there = DDP_THERE_BARE;
        out->weights = c->weights;
        c->weights = NULL;
        (void)ddp_fail(&out->why, DDP_ERR_FORMAT,
                       "nothing can be resumed from %s: it has no state file (%s.state), so its "
                       "momentum, average loss and seed are not known",
                       out->weights, out->weights);
    }
}

ddp_status ddp_pair_find(ddp_pair *out, const char *directory, const char *base,
                         const ddp_pair_listener *listener, ddp_error *err)
{
    struct candidates all = {0};
    ddp_status st;

    *out = (ddp_pair){0};
    st = list(&all, directory, base, err);
    if (!st)
        st = pick(out, &all, base, listener, err);
    if (!st)
        look_at_bare_weights(out, &all, listener);
    release(&all);
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
static ddp_status remove_pair(const struct candidate *c, ddp_error *err)
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
static int has_its_number(const struct candidate *c, const char *base)
{
    const char *slash = strrchr(c->weights, '/');
    uint64_t number = strtoull(slash + 1 + strlen(base) + 1, NULL, 10);
    const ddp_checkpoint_metadata *m = &c->metadata;

    return number <= m->step || (m->list_count > 0 && number <= m->seen / m->list_count);
}

ddp_status ddp_pair_prune(const char *directory, const char *base, size_t keep, ddp_error *err)
{
    struct candidates all = {0};
    ddp_status st = list(&all, directory, base, err);
    ddp_error why;

    for (size_t i = 0, kept = 0; !st && i < all.count; i++) {
        const struct candidate *c = &all.list[i];

        if (c->status || !c->is_numbered || c->is_part || check_base(c, base, &why)
            || !has_its_number(c, base))
            continue;
        if (kept++ >= keep && !ddp_match_weights(c->weights, &c->metadata, &why))
            st = remove_pair(c, err); /* other weights in their place are the user's */
    }
    release(&all);
    return st;
}

ddp_status ddp_pair_latest(ddp_pair_header *out, const char *directory, const char *base,
                           ddp_error *err)
{
    struct candidates all = {0};
    ddp_status st = list(&all, directory, base, err);
    ddp_error ignored;

    *out = (ddp_pair_header){0};
    for (size_t i = 0; !st && i < all.count && !out->weights; i++) {
        struct candidate *c = &all.list[i];

        if (!c->status && !out->saved_at_ns)
            out->saved_at_ns = c->metadata.saved_at_ns;
        if (c->status || check_base(c, base, &ignored) || access(c->weights, F_OK) != 0
            || (c->is_part && ddp_match_weights(c->weights, &c->metadata, &ignored)))
            continue;
        out->weights = c->weights;
        out->step = c->metadata.step;
        out->seen = c->metadata.seen;
        out->own_saved_at_ns = c->metadata.saved_at_ns;
        c->weights = NULL;
    }
    release(&all);
    return st;
}
