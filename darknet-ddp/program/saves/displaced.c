#include "saves/displaced.h"

#include "base/path.h"
#include "checkpoint/match.h"
#include "inputs/written_kinds.h"
#include "show/run_messages.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that dies in between leaves the weights under one of the names with their state: where
 * the file system has second names they have both until the state has come. Else they go first, and
 * come back where the state does not follow. */
static int move_pair(const char *from, const char *to, const char *from_state, const char *to_state)
{
    int has_both = link(from, to) == 0;

    if (!has_both && rename(from, to))
        return 0;
    if (rename(from_state, to_state) && errno != ENOENT) {
        int number = errno;

        (void)(has_both ? unlink(to) : rename(to, from));
        errno = number;
        return 0;
    }
    return !has_both || unlink(from) == 0;
}

static ddp_status rename_pair(const char *from, const char *to, ddp_error *err)
{
    char *states[2] = {ddp_state_path(from), ddp_state_path(to)};
    ddp_status st = DDP_OK;

    if (!states[0] || !states[1])
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files");
    else if (!move_pair(from, to, states[0], states[1]))
        st = ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", from, to, strerror(errno));
    free(states[0]);
    free(states[1]);
    return st;
}

/* A name that is too long counts as free: moving to it says why. */
static int is_free(const char *path)
{
    struct stat info;

    return lstat(path, &info) && (errno == ENOENT || errno == ENAMETOOLONG);
}

/* Neither the weights nor their state are there. */
static int is_free_pair(const char *weights)
{
    char *state = ddp_state_path(weights);
    int free_pair = is_free(weights) && (!state || is_free(state));

    free(state);
    return free_pair;
}

/* Read what the state file beside the weights says of them. Returns 0 if none can be read. */
static int read_state(ddp_checkpoint_metadata *metadata, const char *weights)
{
    char *state = ddp_state_path(weights);
    ddp_error ignored;
    int is_read = state && !ddp_checkpoint_peek(metadata, state, &ignored);

    free(state);
    return is_read;
}

size_t ddp_displaced_step(const char *path)
{
    ddp_checkpoint_metadata metadata;

    if (access(path, F_OK))
        return 0;
    return read_state(&metadata, path) ? metadata.step : SIZE_MAX;
}

ddp_status ddp_displaced_keep_best(const char *directory, const char *base, size_t step,
                                   ddp_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    int number = 0;

    (void)snprintf(from, sizeof from, "%s/%s_best.weights", directory, base);
    if (access(from, F_OK) || (step > 0 && ddp_displaced_step(from) == step))
        return DDP_OK;
    do {
        (void)snprintf(to, sizeof to, "%s/%s_best_%d.weights", directory, base, ++number);
    } while (!is_free_pair(to));
    if (ddp_match_finish_save(from, err) || rename_pair(from, to, err))
        return err->code;
    ddp_print_kept(from, "of which the figures of this run do not tell how good it is", to);
    return DDP_OK;
}

int ddp_displaced_is_foreign(const char *path)
{
    ddp_error ignored;

    return access(path, F_OK) == 0 && ddp_match_check_pair(path, &ignored);
}

/* Is this a checkpoint of another cfg whose files can have the same name? "x_2" has x_2.weights, as
 * "x" has after 2 epochs. */
static int is_of_another(const ddp_checkpoint_metadata *metadata, const char *base)
{
    ddp_checkpoint_metadata own;

    ddp_checkpoint_set_base(&own, base);
    return strcmp(metadata->base, own.base) != 0;
}

/* Is this a numbered checkpoint of a step that the run has yet to reach? The run went back, or
 * counts larger batches now. */
static int is_ahead(const ddp_checkpoint_metadata *metadata, const char *path, const char *base,
                    size_t step)
{
    return ddp_match_is_numbered(ddp_path_name(path), base) && metadata->step > step;
}

/* The kinds of files that may lie where a run is about to save, one for each SAVE row. */
enum lies {
#define SAVE(id, ...) id,
#include "checkpoint/starts.def"
};

static const char *const sentences[] = {
#define SAVE(id, there, becomes) [id] = (there),
#include "checkpoint/starts.def"
};

static enum lies lies_at(const char *path, const char *base, int is_own, size_t step)
{
    ddp_checkpoint_metadata metadata;
    int has_state = read_state(&metadata, path);

    if (has_state && is_of_another(&metadata, base))
        return OF_ANOTHER;
    if (is_own)
        return OWN;
    if (ddp_displaced_is_foreign(path))
        return FOREIGN;
    return has_state && is_ahead(&metadata, path, base, step) ? AHEAD : EARLIER;
}

ddp_status ddp_displaced_keep_old(const char *path, const char *why, ddp_error *err)
{
    char to[PATH_MAX];
    int number = 1;

    (void)snprintf(to, sizeof to, "%s.old", path);
    while (!is_free_pair(to))
        (void)snprintf(to, sizeof to, "%s.old.%d", path, ++number);
    if (rename_pair(path, to, err))
        return err->code;
    ddp_print_kept(path, why, to);
    return DDP_OK;
}

ddp_status ddp_displaced_keep(const char *path, const char *base, int is_own, size_t step,
                              ddp_error *err)
{
    enum lies lies = is_free(path) ? OWN : lies_at(path, base, is_own, step);

    return lies == OWN || lies == EARLIER ? DDP_OK
                                          : ddp_displaced_keep_old(path, sentences[lies], err);
}

ddp_status ddp_displaced_keep_before_average(const char *path, const char *base, ddp_error *err)
{
    if (ddp_displaced_keep(path, base, 1, 0, err))
        return err->code;
    return ddp_written_is_other(path, DDP_WRITTEN_WEIGHTS)
               ? ddp_displaced_keep_old(path, "which is no weights file", err)
               : DDP_OK;
}
