#include "saves/earlier_best.h"

#include "checkpoint/match.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state first: weights without one are still there under their name where the other fails. */
static ddp_status rename_pair(const char *from, const char *to, ddp_error *err)
{
    char *states[2] = {ddp_state_path(from), ddp_state_path(to)};
    ddp_status st = DDP_OK;

    if (!states[0] || !states[1])
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files");
    else if ((rename(states[0], states[1]) && errno != ENOENT) || rename(from, to))
        st = ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", from, to, strerror(errno));
    free(states[0]);
    free(states[1]);
    return st;
}

static int is_free(const char *path)
{
    struct stat info;

    return lstat(path, &info) && errno == ENOENT;
}

/* Neither the weights nor their state are there. */
static int is_free_pair(const char *weights)
{
    char *state = ddp_state_path(weights);
    int free_pair = is_free(weights) && (!state || is_free(state));

    free(state);
    return free_pair;
}

/* Are these the weights after that step? */
static int are_of_step(const char *weights, size_t step)
{
    ddp_checkpoint_metadata metadata;
    char *state = ddp_state_path(weights);
    ddp_error ignored;
    int are = state && !ddp_checkpoint_peek(&metadata, state, &ignored) && metadata.step == step;

    free(state);
    return are;
}

ddp_status ddp_earlier_best_keep(const char *directory, const char *base, size_t step,
                                 ddp_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    int number = 0;

    (void)snprintf(from, sizeof from, "%s/%s_best.weights", directory, base);
    if (access(from, F_OK) || (step > 0 && are_of_step(from, step)))
        return DDP_OK;
    do {
        (void)snprintf(to, sizeof to, "%s/%s_best_%d.weights", directory, base, ++number);
    } while (!is_free_pair(to));
    if (ddp_match_promote(from, err) || rename_pair(from, to, err))
        return err->code;
    printf("DDP: how good %s is, the figures of this run (%s/%s.csv) do not tell: it is kept as "
           "%s, and the best from here on takes its place\n",
           from, directory, base, to);
    return DDP_OK;
}
