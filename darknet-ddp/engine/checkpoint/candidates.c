/* Lists the checkpoints of a run's name in a folder: state files, also X.state.part, and weights
 * without a state. Sorts them into the groups of candidates.h, each with the newest first. */
#include "checkpoint/candidates.h"

#include "checkpoint/match.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ddp_candidates_release(struct ddp_candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].weights);
        free(all->list[i].state);
    }
    free(all->list);
}

static struct ddp_candidate *new_candidate(struct ddp_candidates *all)
{
    if (all->count == all->room) {
        size_t room = all->room * 2 + 16;
        struct ddp_candidate *list = reallocarray(all->list, room, sizeof *list);

        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    all->list[all->count] = (struct ddp_candidate){0};
    return &all->list[all->count++];
}

/* Read how new the weights are. */
static void read_age(struct ddp_candidate *c)
{
    struct stat info;

    if (stat(c->weights, &info))
        return;
    c->seen = ddp_match_images_seen(c->weights);
    c->time = info.st_mtim;
}

/* weights: the name of the state file without its end. state: NULL where there is none. */
static ddp_status add_candidate(struct ddp_candidates *all, const char *directory, const char *base,
                                const char *weights, const char *state, ddp_error *err)
{
    struct ddp_candidate *c = new_candidate(all);

    if (!c || asprintf(&c->weights, "%s/%s", directory, weights) < 0
        || (state && asprintf(&c->state, "%s/%s", directory, state) < 0))
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %s", directory);
    c->is_part = state && ddp_match_is_part(state);
    c->is_numbered = ddp_match_is_numbered(weights, base);
    c->status =
        state ? ddp_checkpoint_peek(&c->metadata, c->state, &c->error)
              : ddp_fail(&c->error, DDP_ERR_FORMAT, "it has no state file (%s.state)", c->weights);
    c->is_bare = !state || c->metadata.is_header_alone;
    if (state && c->is_bare)
        (void)ddp_fail(&c->error, DDP_ERR_FORMAT,
                       "numbered weights have no state any more when later ones are saved");
    if (c->status || c->is_bare)
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
static ddp_status add_if_its(struct ddp_candidates *all, const char *directory, const char *base,
                             const char *name, ddp_error *err)
{
    char weights[NAME_MAX + 1];
    int is_state = ddp_match_weights_name(weights, sizeof weights, name);

    if (is_state && ddp_match_is_weights(weights, base))
        return add_candidate(all, directory, base, weights, name, err);
    if (!is_state && ddp_match_is_of_run(directory, name, base) && !has_state(directory, name))
        return add_candidate(all, directory, base, name, NULL, err);
    return DDP_OK;
}

static int rank_of(const struct ddp_candidate *c)
{
    return !c->state ? 3 : c->is_bare ? 2 : c->status ? 0 : 1;
}

static int later(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare(const void *a, const void *b)
{
    const struct ddp_candidate *x = a, *y = b;
    int order = rank_of(x) - rank_of(y), has_header = !x->status;

    if (!order && has_header)
        order = later(x->metadata.saved_at_ns, y->metadata.saved_at_ns);
    if (!order && has_header)
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

ddp_status ddp_candidates_list(struct ddp_candidates *all, const char *directory, const char *base,
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
