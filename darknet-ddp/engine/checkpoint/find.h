/* checkpoint/find.h: which files of earlier runs win: the pairs of a name in a folder, which of
 * them a start goes on from, and which are removed.
 *
 * The rules are the rows of checkpoint/starts.def. NAME is the cfg's name up to its first dot, X a
 * file of weights. What a run of NAME leaves in its folder:
 *
 *   pairs     X with X.state: NAME.backup, NAME.weights, NAME_last, _final, _best.weights,
 *             NAME_<number>, NAME_best_<number>, NAME_final_<batches>.weights, NAME_<number>.backup
 *             Of NAME_<number>.weights X.state is a header alone once later ones are saved
 *   averages  NAME_ema.weights, NAME_ema_<batches>.weights; they have no state file
 *   records   NAME.csv, .csv.old, .html, .log, .losses, .finished, .events
 *   lock      NAME.lock, while it runs (name_lock.h)
 *   aside     NAME.1/, NAME.2/, ...: an earlier run's files each (set_aside.h)
 *   kept      X.old, X.old.2, ...: weights in whose place a run has saved; nobody touches these
 *
 * A start does this, on rank 0 and in this order:
 *   1. own NAME (name_lock.h), or end;
 *   2. put files together that a run was killed while it moved (ddp_set_aside_recover);
 *   3. with -resume or -resume_force do what the START row says of what is there;
 *   4. begin anew: set aside all files of NAME, if weights, averages or a CSV file are among them.
 *      First weights on the command line stay in their place, too. So no new run destroys anything.
 * -clear changes none of this: it has first weights count from batch 0.
 *
 * A save does what the SAVE row says of what lies at X, before the new X gets its name (pair.h).
 */
#ifndef DDP_CHECKPOINT_FIND_H
#define DDP_CHECKPOINT_FIND_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* The kinds of files that a start finds, one for each START row; 0 is NOTHING. */
typedef enum ddp_there {
#define START(id, ...) DDP_THERE_##id,
#include "checkpoint/starts.def"
    DDP_THERE_COUNT
} ddp_there;

/* The ways to start a run:
 *   ANEW           begin from the first weights or none; what is there is set aside
 *   GOES_ON        go on from the newest whole pair
 *   WEIGHTS_ALONE  go on from the weights of the newest pair, or from the newest without a state;
 *                  momentum, average loss, seed and place in the list are lost
 *   COMES_BACK     move the files of the folder that was set aside last back, and look again
 *   REFUSED        end with the reason; nothing is changed */
typedef enum ddp_start {
    DDP_START_ANEW,
    DDP_START_GOES_ON,
    DDP_START_WEIGHTS_ALONE,
    DDP_START_COMES_BACK,
    DDP_START_REFUSED
} ddp_start;

/* Return what a start does about what is there: with -resume or, if force is 1, -resume_force. */
ddp_start ddp_start_of(ddp_there there, int force);

/* Hears why a pair was passed over: a sentence without a newline, which lives for the call. Neither
 * a listener nor its note may be NULL. */
typedef struct ddp_pair_listener {
    void (*note)(void *ctx, const char *sentence);
    void *ctx;
} ddp_pair_listener;

/* The files in a folder that a start may go on from. */
typedef struct ddp_pair {
    ddp_there there; /* WHOLE, NOT_FINITE, DAMAGED, BARE, RENAMED or NOTHING */
    /* path of the whole pair's weights, or of weights that may be taken alone; NULL: neither */
    char *weights;
    ddp_checkpoint checkpoint; /* state of the whole pair; all 0 if there is none */
    /* pairs, and weights without a state, that seemed newer and were passed over; those of another
     * cfg do not count */
    int passed_over;
    ddp_error why; /* reason why NOT_FINITE, DAMAGED, BARE or RENAMED cannot be resumed */
} ddp_pair;

/* Return 1 if runs of base save a weights or state file, or a part of one, under this name. */
int ddp_pair_has_file(const char *file, const char *base);

/* Find the whole pair of base in directory that was saved last (by saved_at_ns, then step). If its
 * save was interrupted, finish it. Tell the listener of pairs that seem newer and are damaged, of
 * another cfg, or hold a number that is not finite. Tell it of weights without a state file, too,
 * if they count more images.
 *
 * If no pair is whole, the newest that was passed over decides out->there. A pair whose weights are
 * missing does not decide it. Nor do numbered weights without a state file, which may be published
 * ones. Pairs whose state names another cfg come last. They do not decide out->there if one of the
 * two names begins with the other and "_": such cfgs share names of files.
 *
 * Release *out with ddp_pair_release, in any case. Fails with DDP_ERR_IO (the directory cannot be
 * read), DDP_ERR_NOMEM. */
ddp_status ddp_pair_find(ddp_pair *out, const char *directory, const char *base,
                         const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

/* Free what *p holds. All zero is allowed. */
void ddp_pair_release(ddp_pair *p);

/* The newest pair of a folder, by the headers of its state files. */
typedef struct ddp_pair_header {
    char *weights;            /* path; NULL: there is none. The caller frees it */
    uint64_t step, seen;      /* batches and images that the run had done at this save */
    uint64_t own_saved_at_ns; /* when this pair was saved: wall clock, ns since 1970 */
    /* when a run with any cfg last saved under this name: ns since 1970; 0: never */
    uint64_t saved_at_ns;
} ddp_pair_header;

/* Find the pair of base in directory that was saved last, by headers alone. A pair counts if its
 * header is whole and its weights file is there. Weights beside an X.state.part are read, and must
 * match it. If no pair counts, out->weights is NULL. A run that saves after out's saved_at_ns is
 * newer than all that is there, whatever the clock says. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_latest(ddp_pair_header *out, const char *directory, const char *base,
                           ddp_error *err) DDP_MUST_CHECK;

/* Remove old numbered weights, BASE_<number>.weights, with their state files; the `keep` that were
 * saved last stay. Call after a save. State files of weights that stay are reduced to their
 * headers, which tell whose the weights are; only that of the newest weights is not. Only weights
 * count whose state has a whole header, names this base, and tells of <number> steps or epochs at
 * least; so a user's own copy stays. Weights beyond the `keep` are read, and stay if their state
 * describes other weights. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_prune(const char *directory, const char *base, size_t keep,
                          ddp_error *err) DDP_MUST_CHECK;

/* Reduce the state file of these weights to its header. Call when later numbered ones were saved.
 * If the file cannot be read or written, it stays as it is. */
void ddp_pair_reduce(const char *weights);

#endif
