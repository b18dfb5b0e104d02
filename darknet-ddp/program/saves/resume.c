#include "saves/resume.h"

#include "base/plural.h"
#include "checkpoint/match.h"
#include "launch/supervisor.h"
#include "saves/earlier_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_note(void *ctx, const char *sentence)
{
    (void)ctx;
    printf("DDP: %s\n", sentence);
}

ddp_status ddp_resume_refuse(const ddp_checkpoint_run *run, ddp_error *err)
{
    ddp_error found = *err;

    return ddp_fail(err, DDP_ERR_USAGE, "%s%s", found.text,
                    run->force ? "" : "; -resume_force goes on all the same");
}

/* Say what goes on from the weights of a damaged pair: a user who resumes wants these, and no run
 * from the beginning. */
static ddp_status offer_weights(ddp_error *err)
{
    ddp_error found = *err;

    return ddp_fail(
        err, found.code,
        "%s; -resume_force goes on from these weights alone, and without -resume a run begins "
        "anew and sets them aside",
        found.text);
}

static void print_alone(const ddp_resumed *from)
{
    const ddp_checkpoint_metadata *f = &from->metadata;

    printf("DDP: resuming from the weights of %s alone: %llu batch%s, %llu image%s; lost with the "
           "state: "
           "momentum, average loss, the seed, and so which pictures come next\n",
           from->weights, (unsigned long long)f->step, f->step == 1 ? "" : "es",
           (unsigned long long)f->seen, ddp_plural(f->seen));
}

static void print_resumed(const ddp_resumed *from, const ddp_resume_config *c)
{
    const ddp_checkpoint_metadata *f = &from->metadata;
    const ddp_checkpoint_run *run = c->run;

    printf("DDP: resuming from %s: %llu batch%s, %llu image%s, by %llu rank%s\n", from->weights,
           (unsigned long long)f->step, f->step == 1 ? "" : "es", (unsigned long long)f->seen,
           ddp_plural(f->seen), (unsigned long long)f->ranks, ddp_plural(f->ranks));
    if (f->ranks != run->ranks && !run->same_rounding)
        printf("DDP: on another number of ranks sums round differently without -ddp_exact\n");
    ddp_algorithm_set_print_resumed(c->algorithms,
                                    ddp_state_gathers(run->state) ? ddp_state_gathered(run->state)
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

/* The weights that the run begins with may lie there without a state file. */
static int are_first_weights(const char *first_weights, const char *path)
{
    char *state = path ? ddp_state_path(path) : NULL;
    struct stat a, b;
    int so = first_weights && state && access(state, F_OK) != 0 && !stat(first_weights, &a)
             && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;

    free(state);
    return so;
}

/* The newest pair into net; from->weights is NULL where there is none to go on from. */
static ddp_status resume(ddp_resumed *from, network *net, const ddp_resume_config *c,
                         ddp_error *err)
{
    static const ddp_pair_listener printer = {.note = print_note};
    ddp_status st = DDP_OK;

    if (!c->has_earlier && !ddp_supervisor_must_resume()
        && !ddp_pair_lacks_state(c->directory, c->run->base))
        st = ddp_earlier_run_bring_back(c->directory, c->run->base, err);
    if (!st)
        st = ddp_checkpoint_resume(from, net, c->directory, c->run, &printer, err);
    if (st && are_first_weights(c->first_weights, from->damaged)) {
        ddp_resumed_release(from);
        return DDP_OK;
    }
    return st;
}

ddp_status ddp_resume_newest(ddp_resumed *from, network *net, const ddp_resume_config *c,
                             ddp_error *err)
{
    ddp_status st = resume(from, net, c, err);

    if (st == DDP_ERR_MISMATCH)
        return ddp_resume_refuse(c->run, err);
    if (st && from->damaged)
        return offer_weights(err);
    if (st)
        return st;
    if (from->alone)
        print_alone(from);
    else if (from->weights)
        print_resumed(from, c);
    else if (ddp_supervisor_must_resume())
        return lacks_checkpoint(c->directory, err);
    else
        printf("DDP: nothing to resume in %s: this run starts from the beginning\n", c->directory);
    return DDP_OK;
}
