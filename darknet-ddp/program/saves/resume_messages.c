#include "saves/resume_messages.h"

#include "base/plural.h"
#include "checkpoint/match.h"
#include "checkpoint/set_aside.h"
#include "launch/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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
    ddp_algorithm_set_print_resumed(algorithms,
                                    ddp_state_has_rank_arrays(run->state)
                                        ? ddp_state_gathered_ranks(run->state)
                                        : (int)f->ranks,
                                    (int)run->ranks);
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

ddp_status ddp_resume_tell(const ddp_resumed *from, const ddp_checkpoint_run *run,
                           const ddp_algorithm_set *algorithms, const char *directory,
                           ddp_error *err)
{
    if (from->weights_alone)
        print_alone(from);
    else if (from->weights)
        print_resumed(from, run, algorithms);
    else if (ddp_supervisor_must_resume())
        return lacks_checkpoint(directory, err);
    else
        printf("DDP: nothing to resume of %s in %s: this run starts from the beginning\n",
               run->base, directory);
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
    ddp_error found = *err;

    if (from->there == DDP_THERE_RENAMED)
        return ddp_fail(err, found.code,
                        "%s; with the old names of the cfg and of its files -resume goes on, and "
                        "without -resume a new run may begin with these weights",
                        found.text);
    if (err->code == DDP_ERR_MISMATCH)
        return refuse(run, err);
    return from->refused_weights ? offer_weights(from->refused_weights, directory, base, err)
                                 : err->code;
}
