/* checkpoint/find.h: finds the checkpoints that earlier runs have left in a folder: the one that a
 * run goes on from, and those that are removed.
 *
 * A checkpoint is a pair: a weights file X and its state file X.state (pair.h). It is whole if the
 * state is undamaged, X is the file that the state describes, and all numbers are finite. NAME is a
 * run's name, its cfg's up to the first dot (`base` below). In its folder a run of NAME leaves:
 *
 *   pairs     X is NAME.backup, NAME.weights, NAME_last.weights, NAME_final.weights,
 *             NAME_best.weights, NAME_<number>.weights, NAME_best_<number>.weights,
 *             NAME_final_<batches>.weights or NAME_<number>.backup. Once later numbered weights
 *             are saved, the state file of NAME_<number>.weights has only its header
 *   averages  NAME_ema.weights, NAME_ema_<batches>.weights; they have no state file
 *   records   NAME.csv, .csv.old, .csv.old.<number>, .html, .suspects.html, .log, .log.old,
 *             .losses, .finished, .events, .events.<rank>
 *   lock      NAME.lock, while it runs (name_lock.h)
 *   aside     NAME.1/, NAME.2/, ...: the files of one earlier run each (set_aside.h)
 *   kept      X.old, X.old.2, ...: weights whose name a save has taken; they are never removed
 *
 * When a run of NAME starts, rank 0 does this (starts.def has the rules, a row each):
 *   1. It takes NAME.lock (name_lock.h). Without -ddp_take_over it ends if another run has it.
 *   2. If an earlier run was killed while it moved files, it moves them to where they belong
 *      (ddp_set_aside_recover).
 *   3. With -resume or -resume_force it does what the START row says of the files that are there.
 *   4. If the run begins anew, it sets aside NAME's pairs, averages and records, if files
 *      of a pair, averages or a CSV file are there. The command line's weights, if among them, also
 *      stay in their place. So no new run destroys weights or figures.
 * -clear changes none of this: it only makes the first weights count from batch 0.
 *
 * Weights that have the name X so far are treated as the SAVE row says, before those of a save get
 * that name (pair.h). */
#ifndef DDP_CHECKPOINT_FIND_H
#define DDP_CHECKPOINT_FIND_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* The cases of files that a start finds in its folder: one for each START row of starts.def, which
 * explains it. 0 is NOTHING. */
typedef enum ddp_there {
#define START(id, ...) DDP_THERE_##id,
#include "checkpoint/starts.def"
    DDP_THERE_COUNT
} ddp_there;

/* A way to start a run. */
typedef enum ddp_start {
    /* begin with the weights of the command line, or none; set aside what is there */
    DDP_START_ANEW,
    DDP_START_GOES_ON, /* go on from the newest whole pair */
    /* go on from weights; momentum, average loss, seed and place in the list are lost */
    DDP_START_WEIGHTS_ALONE,
    DDP_START_COMES_BACK, /* move back the run that was set aside last, and look again */
    DDP_START_REFUSED     /* end with the reason; change nothing */
} ddp_start;

/* Return how a run starts if these files are there: with -resume, or with -resume_force if force is
 * 1. */
ddp_start ddp_start_of(ddp_there there, int force);

/* A function that is told why a pair was passed over, or what differs in the one that is taken: in
 * a sentence without a newline, valid during the call. A listener and its note are never NULL. */
typedef struct ddp_pair_listener {
    void (*note)(void *ctx, const char *sentence);
    void *ctx;
} ddp_pair_listener;

/* The result of ddp_pair_find. */
typedef struct ddp_pair {
    /* WHOLE if a pair is whole; else the fault, NOT_FINITE or DAMAGED, of the newest pair whose
     * weights file is there. (Damaged headers count as newest.) Without such a pair BARE, RENAMED
     * or NOTHING. Numbered weights without a state are not BARE: they may be published ones. */
    ddp_there there;
    /* weights file of the whole pair. With DAMAGED and BARE: weights file that may be taken alone.
     * Else NULL */
    char *weights;
    ddp_checkpoint checkpoint; /* state of the whole pair; all 0 if there is none */
    /* how many pairs, and weights without a whole state, were passed over though they seemed newer;
     * pairs of another cfg do not count */
    int passed_over;
    /* why the run cannot resume, if `there` is NOT_FINITE, DAMAGED, BARE or RENAMED; else of no
     * use */
    ddp_error why;
} ddp_pair;

/* Find the newest whole pair of base in directory (by saved_at_ns, then step), or why there is none
 * (out->there). Reads whole files. If the pair's save was interrupted, tries to finish it. The
 * listener is told of pairs that were passed over. If a whole pair is found, it is also told of
 * weights without a whole state that count more images. Release *out with ddp_pair_release, also
 * after a failure. Fails with DDP_ERR_IO (the directory cannot be read), DDP_ERR_NOMEM. */
ddp_status ddp_pair_find(ddp_pair *out, const char *directory, const char *base,
                         const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

/* Free what *p holds. All zero is allowed. */
void ddp_pair_release(ddp_pair *p);

/* The newest pair of a folder, by the headers of state files. */
typedef struct ddp_pair_header {
    /* path of the pair's weights file, which the caller frees; NULL: there is no pair */
    char *weights;
    uint64_t step, seen;  /* how many batches and images the run had done */
    uint64_t saved_at_ns; /* when this pair was saved: ns since 1970; 0: there is none */
    /* saved_at_ns of the newest state file of these names with a whole header, also of another cfg;
     * 0: there is none. A save with a later time is newer than every pair that is there */
    uint64_t newest_saved_at_ns;
} ddp_pair_header;

/* Find the newest pair of base in directory by the headers of state files. A state that is only a
 * header counts as older than all that have more. A pair counts if its header is whole and names
 * base, and its weights file is there. A pair whose save was interrupted (X.state.part) counts only
 * if the weights match its state; they are read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_latest(ddp_pair_header *out, const char *directory, const char *base,
                           ddp_error *err) DDP_MUST_CHECK;

/* Remove old numbered weights, BASE_<number>.weights, with their state files. The `keep` that were
 * saved last stay; all their state files but the newest are reduced to headers (ddp_pair_reduce).
 * Call after a save. Does nothing if there is no such directory. Weights are removed only if their
 * state file names base, describes them, and says that at least <number> steps or epochs were
 * trained. So a user's own copy stays. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_pair_prune(const char *directory, const char *base, size_t keep,
                          ddp_error *err) DDP_MUST_CHECK;

/* Reduce the state file of these weights to its header. Call when later numbered weights were
 * saved. If the file cannot be read or written, it stays as it is. */
void ddp_pair_reduce(const char *weights);

#endif
