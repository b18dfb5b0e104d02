#include "saves/earlier_run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/plural.h"
#include "checkpoint/match.h"
#include "checkpoint/pair.h"
#include "checkpoint/set_aside.h"
#include "saves/displaced.h"
#include "saves/done_marker.h"
#include "saves/run_lock.h"
#include "show/run_messages.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Weights that a run begins with stay in their place, where -resume takes them for its own. */
static int is_in(const char *directory, const char *first_weights)
{
    char path[PATH_MAX];

    if (!first_weights)
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s", directory, ddp_path_name(first_weights));
    return ddp_file_is_same(path, first_weights);
}

static void say_set_aside(const char *folder, const ddp_pair_header *earlier)
{
    double age_s = (double)(ddp_clock_unix_ns() - (int64_t)earlier->saved_at_ns) / 1e9;
    char age[32] = "";

    if (age_s >= 0) /* else a clock was set meanwhile */
        ddp_duration(age_s, age, sizeof age);
    if (earlier->weights)
        printf("DDP: this run begins anew: the files of an earlier one, the last of them %s: %llu "
               "batch%s%s%s%s, are set aside in %s\n",
               earlier->weights, (unsigned long long)earlier->step, earlier->step == 1 ? "" : "es",
               *age ? ", " : "", age, *age ? " ago" : "", folder);
    else
        printf("DDP: this run begins anew: the files of an earlier one are set aside in %s\n",
               folder);
}

ddp_status ddp_earlier_run_set_aside(const char *directory, const char *base,
                                     const ddp_pair_header *earlier, const char *first_weights,
                                     ddp_error *err)
{
    char *folder;

    if (ddp_set_aside(&folder, directory, base, first_weights, err))
        return err->code;
    if (folder)
        say_set_aside(folder, earlier);
    if (folder && earlier->weights && !is_in(directory, first_weights))
        printf("DDP: as long as this run has saved nothing, %s brings them back\n",
               ddp_done_marker_is_in(folder, base) ? "-resume_force" : "-resume");
    free(folder);
    return DDP_OK;
}

ddp_status ddp_earlier_run_recover(const char *directory, const char *base, ddp_error *err)
{
    int came;
    ddp_status st = ddp_set_aside_recover(&came, directory, base, err);

    if (!st && came)
        printf("DDP: a run of %s was ended while it moved an earlier one's files; they are "
               "together again\n",
               base);
    return st;
}

/* Nothing of the folder is moved for a start that is refused. */
static ddp_status bring_back(int *came, const char *folder, const char *directory,
                             const ddp_checkpoint_run *run, ddp_error *err)
{
    if (ddp_run_lock_probe(folder, run->base, err) || ddp_checkpoint_check_resume(folder, run, err)
        || ddp_set_aside_undo(came, folder, directory, run->base, err))
        return err->code;
    if (*came)
        printf("DDP: the files of %s, an earlier run's, are in %s again%s\n", folder, directory,
               access(folder, F_OK) ? "" : ", but for those in whose places others lie");
    return DDP_OK;
}

ddp_status ddp_earlier_run_bring_back(int *came, const char *directory,
                                      const ddp_checkpoint_run *run, ddp_error *err)
{
    char *folder = ddp_set_aside_last(directory, run->base, NULL);
    ddp_there there = !folder                                    ? DDP_THERE_NOTHING
                      : ddp_done_marker_is_in(folder, run->base) ? DDP_THERE_ENDED
                                                                 : DDP_THERE_ASIDE;
    ddp_status st = DDP_OK;

    *came = 0;
    if (ddp_start_of(there, run->force) == DDP_START_COMES_BACK)
        st = bring_back(came, folder, directory, run, err);
    else if (folder)
        printf("DDP: the earlier run in %s has come to its end, and stays there; -resume_force "
               "goes on from it\n",
               folder);
    free(folder);
    return st;
}

static int have_same_bytes(const char *a, const char *b)
{
    ddp_file_checksum of_a, of_b;
    ddp_error ignored;

    return !ddp_file_checksum_of(a, &of_a, &ignored) && !ddp_file_checksum_of(b, &of_b, &ignored)
           && of_a.bytes == of_b.bytes && of_a.hash == of_b.hash;
}

/* Give the weights `from` the second name `to`, or a copy where the file system has no second
 * names. With metadata they are a pair; else an average (ema_alpha), which is saved anew and may
 * get another name in place of a second one. */
static ddp_status name_too(const char *from, const char *to,
                           const ddp_checkpoint_metadata *metadata, ddp_error *err)
{
    char from_state[PATH_MAX], to_state[PATH_MAX];
    ddp_status st = DDP_OK;

    (void)snprintf(from_state, sizeof from_state, "%s.state", from);
    (void)snprintf(to_state, sizeof to_state, "%s.state", to);
    if (have_same_bytes(from, to) && (!metadata || have_same_bytes(from_state, to_state)))
        return DDP_OK;
    if (access(to, F_OK) == 0
        && ddp_displaced_keep_old(to, "other weights that have this name", err))
        return err->code;
    if (metadata && (link(from, to) || link(from_state, to_state)))
        st = ddp_pair_copy(to, from, metadata->saved_at_ns, NULL, err);
    else if (!metadata && link(from, to) && rename(from, to))
        st = ddp_fail(err, DDP_ERR_IO, "cannot name %s %s: %s", from, to, strerror(errno));
    if (!st)
        ddp_print_kept(from, "of the run that had come to its end", to);
    return st;
}

static ddp_status keep(const char *directory, const char *base, const char *end, ddp_error *err)
{
    char from[PATH_MAX], state[PATH_MAX + sizeof ".state"], to[PATH_MAX];
    ddp_checkpoint_metadata metadata;
    ddp_error ignored;

    (void)snprintf(from, sizeof from, "%s/%s%s", directory, base, end);
    (void)snprintf(state, sizeof state, "%s.state", from);
    if (ddp_checkpoint_peek(&metadata, state, &ignored)
        || ddp_match_check_weights(from, &metadata, &ignored))
        return DDP_OK;
    (void)snprintf(to, sizeof to, "%s/%s_final_%llu.weights", directory, base,
                   (unsigned long long)metadata.step);
    if (name_too(from, to, &metadata, err))
        return err->code;
    (void)snprintf(from, sizeof from, "%s/%s_ema.weights", directory, base);
    (void)snprintf(to, sizeof to, "%s/%s_ema_%llu.weights", directory, base,
                   (unsigned long long)metadata.step);
    return access(from, F_OK) ? DDP_OK : name_too(from, to, NULL, err);
}

ddp_status ddp_earlier_run_keep_final(const char *directory, const char *base, ddp_error *err)
{
    if (keep(directory, base, "_final.weights", err))
        return err->code;
    return keep(directory, base, ".weights", err);
}
