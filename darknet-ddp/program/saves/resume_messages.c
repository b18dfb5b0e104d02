#include "saves/resume_messages.h"

#include "base/plural.h"
#include "checkpoint/find.h"
#include "checkpoint/match.h"
#include "checkpoint/set_aside.h"
#include "launch/supervisor.h"
#include "saves/done_marker.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_note(void *ctx, const char *sentence)
{
    (void)ctx;
    printf("DDP: %s\n", sentence);
}

const ddp_pair_listener ddp_resume_printer = {.note = print_note};

static void print_alone(const ddp_resumed *from)
{
    const ddp_checkpoint_metadata *f = &from->metadata;

    printf("DDP: resuming from the weights of %s alone: %llu batch%s, %llu image%s; lost with the "
           "state: "
           "momentum, average loss, the seed, and so which pictures come next\n",
           from->weights, (unsigned long long)f->step, f->step == 1 ? "" : "es",
           (unsigned long long)f->seen, ddp_plural(f->seen));
}

static void print_resumed(const ddp_resumed *from, const ddp_checkpoint_run *run,
                          const ddp_algorithm_set *algorithms)
{
    const ddp_checkpoint_metadata *f = &from->metadata;

    printf("DDP: resuming from %s: %llu batch%s, %llu image%s, by %llu rank%s\n", from->weights,
           (unsigned long long)f->step, f->step == 1 ? "" : "es", (unsigned long long)f->seen,
           ddp_plural(f->seen), (unsigned long long)f->ranks, ddp_plural(f->ranks));
    if (f->ranks != run->ranks && !run->same_rounding)
        printf("DDP: on another number of ranks sums round differently without -ddp_exact\n");
    ddp_algorithm_set_print_resumed(
        algorithms, ddp_state_gathers(run->state) ? ddp_state_gathered(run->state) : (int)f->ranks,
        (int)run->ranks);
}

/* A run that was set aside. */
struct longest {
    const char *base;
    char *folder; /* NULL: none has learnt from so many images as these */
    uint64_t seen, step;
};

static int keep_longest(void *ctx, const char *folder)
{
    struct longest *l = ctx;
    ddp_pair_header earlier = {0};
    ddp_error ignored;

    if (!ddp_pair_latest(&earlier, folder, l->base, &ignored) && earlier.seen > l->seen) {
        free(l->folder);
        l->folder = strdup(folder);
        l->seen = earlier.seen;
        l->step = earlier.step;
    }
    free(earlier.weights);
    return 1;
}

/* Whoever forgot -resume, and has gone back, has a longer run in a folder. */
static void print_longer(const ddp_resumed *from, const char *directory,
                         const ddp_checkpoint_run *run)
{
    struct longest found = {.base = run->base, .seen = from->metadata.seen};

    ddp_set_aside_each(directory, run->base, NULL, keep_longest, &found);
    if (found.folder && ddp_done_marker_is_in(found.folder, run->base))
        printf("DDP: %s has an earlier run that came further, to its end at batch %llu\n",
               found.folder, (unsigned long long)found.step);
    else if (found.folder)
        printf(
            "DDP: %s has an earlier run that came further, to batch %llu: -resume with backup=%s "
            "in the .data file goes on with that one\n",
            found.folder, (unsigned long long)found.step, found.folder);
    free(found.folder);
}

/* A restarted job finds no checkpoint: rank 0 may be on another host now. */
static ddp_status lacks_checkpoint(const char *directory, ddp_error *err)
{
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "the job was to go on from its last checkpoint, and %s has none here: where "
        "rank 0 may change its host, the backup folder must be one that all hosts share",
        directory);
}

static int is_there(const char *directory, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* The newest weights in the directory that have a state of another base; "": there are none. */
static void find_another(const char *directory, const char *base, char *found, size_t size)
{
    char weights[NAME_MAX + 1], path[PATH_MAX];
    ddp_checkpoint_metadata metadata, own;
    DIR *dir = opendir(directory);
    const struct dirent *entry;
    uint64_t newest = 0;
    ddp_error ignored;

    found[0] = '\0';
    ddp_checkpoint_set_base(&own, base);
    while (dir && (entry = readdir(dir))) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (ddp_match_is_part(entry->d_name)
            || !ddp_match_weights_name(weights, sizeof weights, entry->d_name)
            || !is_there(directory, weights) || ddp_checkpoint_peek(&metadata, path, &ignored)
            || strcmp(metadata.base, own.base) == 0 || metadata.saved_at_ns <= newest)
            continue;
        newest = metadata.saved_at_ns;
        (void)snprintf(found, size, "%s", weights);
    }
    if (dir)
        (void)closedir(dir);
}

/* Does one name begin with the other and "_"? Such cfgs share names of files, x_2.weights say. */
static int share_names(const char *a, const char *b)
{
    size_t length = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

    return strncmp(a, b, length) == 0 && (a[length] == '_' || b[length] == '_');
}

/* A cfg was renamed with its files, which still know the old name: weights that a run of base would
 * write over. */
static ddp_status refuse_renamed(const char *directory, const char *base, ddp_error *err)
{
    char weights[NAME_MAX + 1], path[PATH_MAX];
    ddp_checkpoint_metadata metadata, own;
    DIR *dir = opendir(directory);
    const struct dirent *entry;
    ddp_error ignored;
    int found = 0;

    ddp_checkpoint_set_base(&own, base);
    while (dir && !found && (entry = readdir(dir))) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        found = !ddp_match_is_part(entry->d_name)
                && ddp_match_weights_name(weights, sizeof weights, entry->d_name)
                && ddp_match_is_weights(weights, base)
                && !ddp_checkpoint_peek(&metadata, path, &ignored)
                && strcmp(metadata.base, own.base) != 0 && !share_names(metadata.base, base);
    }
    if (dir)
        (void)closedir(dir);
    if (!found)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "nothing to resume of %s: %s/%s is of %s, as its state file says; with the old "
                    "names of the cfg and of its files -resume goes on, and without -resume a new "
                    "run may begin with these weights",
                    base, directory, weights, metadata.base);
}

/* Where a cfg was renamed, its run's checkpoints have another name. */
static ddp_status print_nothing_to_resume(const char *directory, const char *base, ddp_error *err)
{
    char other[NAME_MAX + 1];

    if (refuse_renamed(directory, base, err))
        return err->code;
    find_another(directory, base, other, sizeof other);
    if (other[0])
        printf("DDP: nothing to resume of %s in %s, where the newest checkpoint is %s, another "
               "cfg's: this run starts from the beginning\n",
               base, directory, other);
    else
        printf("DDP: nothing to resume in %s: this run starts from the beginning\n", directory);
    return DDP_OK;
}

ddp_status ddp_resume_tell(const ddp_resumed *from, const ddp_checkpoint_run *run,
                           const ddp_algorithm_set *algorithms, const char *directory,
                           ddp_error *err)
{
    if (from->alone)
        print_alone(from);
    else if (from->weights)
        print_resumed(from, run, algorithms);
    if (from->weights)
        print_longer(from, directory, run);
    else if (ddp_supervisor_must_resume())
        return lacks_checkpoint(directory, err);
    else
        return print_nothing_to_resume(directory, run->base, err);
    return DDP_OK;
}

static ddp_status refuse(const ddp_checkpoint_run *run, ddp_error *err)
{
    ddp_error found = *err;

    return ddp_fail(err, DDP_ERR_USAGE, "%s%s", found.text,
                    run->force ? "" : "; -resume_force goes on all the same");
}

/* By what its state file says of it. */
static int is_cut_short(const char *weights)
{
    char *state = ddp_state_path(weights);
    ddp_checkpoint_metadata metadata;
    struct stat info;
    ddp_error ignored;
    int is_cut = state && !ddp_checkpoint_peek(&metadata, state, &ignored)
                 && stat(weights, &info) == 0 && (uint64_t)info.st_size < metadata.weights_bytes;

    free(state);
    return is_cut;
}

/* Say what goes on from the weights of a damaged pair: a user who resumes wants these, or those of
 * the run that lies beside them, and no run from the beginning. */
static ddp_status offer_weights(const char *weights, const char *directory, const char *base,
                                ddp_error *err)
{
    ddp_error found = *err;
    char *aside = ddp_set_aside_last(directory, base, NULL);

    (void)ddp_fail(err, found.code,
                   "%s; %swithout -resume a run begins anew and sets them aside%s%s", found.text,
                   is_cut_short(weights) ? "they are cut short, and "
                                         : "-resume_force goes on from these weights alone, and ",
                   aside ? "; an earlier run's files are in " : "", aside ? aside : "");
    free(aside);
    return err->code;
}

ddp_status ddp_resume_explain(const ddp_resumed *from, const ddp_checkpoint_run *run,
                              const char *directory, const char *base, ddp_error *err)
{
    if (err->code == DDP_ERR_MISMATCH)
        return refuse(run, err);
    return from->damaged ? offer_weights(from->damaged, directory, base, err) : err->code;
}
