/* Finding pairs in a directory: the newest whole one, and those to remove. */
#include "checkpoint/match.h"
#include "checkpoint/pair.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A state file, and the weights file that it would belong to. */
struct candidate {
    char *weights, *state; /* paths */
    int is_part;           /* X.state.part */
    int is_numbered;       /* BASE_<number>.weights */
    ddp_checkpoint_metadata metadata;
    ddp_status status; /* of reading the metadata */
    ddp_error error;
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

/* weights: the name of the state file without its end. */
static ddp_status add(struct candidates *all, const char *directory, const char *base,
                      const char *weights, const char *state, ddp_error *err)
{
    struct candidate *c = new_candidate(all);

    if (!c || asprintf(&c->weights, "%s/%s", directory, weights) < 0
        || asprintf(&c->state, "%s/%s", directory, state) < 0)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %s", directory);
    c->is_part = ddp_match_is_part(state);
    c->is_numbered = ddp_match_is_numbered(weights, base);
    c->status = ddp_checkpoint_peek(&c->metadata, c->state, &c->error);
    return DDP_OK;
}

static ddp_status add_if_state(struct candidates *all, const char *directory, const char *base,
                               const char *name, ddp_error *err)
{
    char weights[NAME_MAX + 1];

    if (strlen(name) >= sizeof weights || !ddp_match_weights_name(weights, sizeof weights, name)
        || !ddp_match_is_weights(weights, base))
        return DDP_OK;
    return add(all, directory, base, weights, name, err);
}

/* Newest first; those whose header is damaged before all. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (!x->status != !y->status)
        return x->status ? -1 : 1;
    if (x->metadata.saved_at_ns != y->metadata.saved_at_ns)
        return x->metadata.saved_at_ns > y->metadata.saved_at_ns ? -1 : 1;
    if (x->metadata.step != y->metadata.step)
        return x->metadata.step > y->metadata.step ? -1 : 1;
    return strcmp(x->state, y->state);
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
        st = add_if_state(all, directory, base, entry->d_name, err);
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

/* What is wrong with a pair that is not taken. */
enum fault { OF_ANOTHER, DAMAGED, NOT_FINITE };

static ddp_status try(ddp_pair *out, const struct candidate *c, const char *base, enum fault *fault,
                      ddp_error *err)
{
    ddp_status st = c->status;

    *fault = DAMAGED;
    if (st) {
        *err = c->error;
        return st;
    }
    st = check_base(c, base, err);
    if (st)
        *fault = OF_ANOTHER;
    if (!st)
        st = ddp_checkpoint_read(&out->checkpoint, c->state, err);
    if (!st)
        st = ddp_match_weights(c->weights, &out->checkpoint.metadata, err);
    if (!st) {
        st = check_finite(out, c, err);
        *fault = st == DDP_ERR_FORMAT ? NOT_FINITE : DAMAGED;
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
        if (!all->list[i].is_part && strcmp(all->list[i].weights, c->weights) == 0)
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

    out->weights = c->weights;
    c->weights = NULL;
    if (c->is_part)
        (void)!ddp_match_promote(out->weights, &ignored);
}

/* How new a weights file is whose state does not tell: by the images that it counts, then by the
 * file system's clock, which copying changes. */
struct age {
    uint64_t seen;
    struct timespec time;
};

/* Returns 0 where there is no such file. */
static int read_age(struct age *age, const char *weights)
{
    struct stat info;

    if (stat(weights, &info))
        return 0;
    *age = (struct age){ddp_match_seen(weights), info.st_mtim};
    return 1;
}

static int is_newer(const struct age *a, const struct age *b)
{
    if (a->seen != b->seen)
        return a->seen > b->seen;
    return a->time.tv_sec != b->time.tv_sec ? a->time.tv_sec > b->time.tv_sec
                                            : a->time.tv_nsec > b->time.tv_nsec;
}

/* The pair to name among those that were passed over, and why it was. */
struct passed_over {
    const struct candidate *not_finite, *damaged; /* the newest; NULL: none */
    struct age damaged_age;
    ddp_error why_not_finite, why_damaged;
};

static void pass_over(struct passed_over *all, const struct candidate *c, enum fault fault,
                      const ddp_error *why)
{
    struct age age;

    if (fault == NOT_FINITE && !all->not_finite) {
        all->not_finite = c;
        all->why_not_finite = *why;
    }
    if (fault != DAMAGED || !read_age(&age, c->weights))
        return;
    if (all->damaged && (!all->damaged->status || !is_newer(&age, &all->damaged_age)))
        return; /* a header that can be read has a better time than its file */
    all->damaged = c;
    all->damaged_age = age;
    all->why_damaged = *why;
}

/* No pair was taken: fail with the reason. */
static ddp_status refuse(ddp_pair *out, const struct passed_over *all, ddp_error *err)
{
    const struct candidate *c = all->not_finite ? all->not_finite : all->damaged;
    const ddp_error *why = all->not_finite ? &all->why_not_finite : &all->why_damaged;

    if (!c)
        return DDP_OK;
    if (!all->not_finite && !(out->damaged = strdup(c->weights)))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", c->weights);
    if (strncmp(why->text, c->weights, strlen(c->weights)) == 0)
        return ddp_fail(err, DDP_ERR_FORMAT, "no checkpoint is left to resume from: %s", why->text);
    return ddp_fail(err, DDP_ERR_FORMAT, "no checkpoint is left to resume from: of %.200s, %s",
                    c->weights, why->text);
}

/* ---- weights without a state file ---- */

static int has_state(const char *weights)
{
    char *state = ddp_state_path(weights);
    int has = !state || access(state, F_OK) == 0;

    free(state);
    return has;
}

/* path: that of the next weights file of base in the directory that has no state file. */
static int next_bare(DIR *dir, const char *directory, const char *base, char path[PATH_MAX])
{
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (!ddp_match_is_of_run(directory, entry->d_name, base))
            continue;
        (void)snprintf(path, PATH_MAX, "%s/%s", directory, entry->d_name);
        if (!has_state(path))
            return 1;
    }
    return 0;
}

/* Of those, but for a number's, which may be a published one, the newest; NULL: there is none. The
 * caller frees it. */
static char *bare_weights(const char *directory, const char *base)
{
    DIR *dir = opendir(directory);
    struct age latest = {0}, age;
    char path[PATH_MAX], newest[PATH_MAX] = "";

    while (next_bare(dir, directory, base, path)) {
        if (ddp_match_is_numbered(strrchr(path, '/') + 1, base) || !read_age(&age, path)
            || (newest[0] && !is_newer(&age, &latest)))
            continue;
        latest = age;
        memcpy(newest, path, sizeof newest);
    }
    if (dir)
        (void)closedir(dir);
    return newest[0] ? strdup(newest) : NULL;
}

/* Those that count more images than the pair that is taken: its run, or another Darknet, came
 * further than that. */
static void pass_over_bare(ddp_pair *out, const char *directory, const char *base,
                           const ddp_pair_listener *listener)
{
    DIR *dir = opendir(directory);
    char path[PATH_MAX];
    ddp_error why;

    while (next_bare(dir, directory, base, path)) {
        if (ddp_match_seen(path) <= ddp_match_seen(out->weights))
            continue;
        (void)ddp_fail(&why, DDP_ERR_FORMAT, "it has no state file (%s.state)", path);
        tell(listener, path, &why);
        out->passed_over++;
    }
    if (dir)
        (void)closedir(dir);
}

int ddp_pair_lacks_state(const char *directory, const char *base)
{
    char *bare = bare_weights(directory, base);

    free(bare);
    return bare != NULL;
}

/* No pair is there. Weights without a state file are another program's, or were copied alone. */
static ddp_status refuse_bare_weights(ddp_pair *out, const char *directory, const char *base,
                                      ddp_error *err)
{
    out->damaged = bare_weights(directory, base);
    if (!out->damaged)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "nothing can be resumed from %s: it has no state file (%s.state), so its "
                    "momentum, average loss and seed are not known",
                    out->damaged, out->damaged);
}

static ddp_status pick(ddp_pair *out, struct candidates *all, const char *base,
                       const ddp_pair_listener *listener, ddp_error *err)
{
    struct passed_over passed = {0};

    for (size_t i = 0; i < all->count; i++) {
        struct candidate *c = &all->list[i];
        ddp_error why;
        enum fault fault;
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
        out->passed_over += fault != OF_ANOTHER;
        pass_over(&passed, c, fault, &why);
    }
    return refuse(out, &passed, err);
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
    if (!st && out->weights)
        pass_over_bare(out, directory, base, listener);
    else if (!st)
        st = refuse_bare_weights(out, directory, base, err);
    release(&all);
    return st;
}

void ddp_pair_release(ddp_pair *p)
{
    free(p->weights);
    free(p->damaged);
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
    for (size_t i = 0; !st && i < all.count; i++) {
        struct candidate *c = &all.list[i];
        int is_ours = c->status ? !c->is_part : !check_base(c, base, &ignored);

        out->has_state |= is_ours;
        if (!c->status && !out->saved_at_ns)
            out->saved_at_ns = c->metadata.saved_at_ns;
        if (c->status || !is_ours || out->weights || access(c->weights, F_OK) != 0
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
