/* saves/checkpoints.h: resumes a run from a checkpoint, and saves its checkpoints, as the options
 * say. A checkpoint is a weights file with a state file (state/checkpoint.h). Rank 0 alone reads
 * and writes these files. Call each function on all ranks, unless its comment names rank 0. Calls,
 * in this order:
 *
 *   1. ddp_checkpoints_open, with the network as parsed: owns the name, and resumes
 *   2. ddp_checkpoints_attached, when the trainer is attached to the network
 *   3. ddp_checkpoints_begin: sets an earlier run's files aside
 *   4. ddp_checkpoints_check_list and _labelled, when the training list is read
 *   5. ddp_checkpoints_save when Darknet saves, ddp_checkpoints_poll after each step
 *   6. ddp_checkpoints_poll with wait, then ddp_checkpoints_close */
#ifndef DDP_SAVES_CHECKPOINTS_H
#define DDP_SAVES_CHECKPOINTS_H

#include "algorithms/set.h"
#include "base/status.h"
#include "comm/group.h"
#include "inputs/data_files.h"
#include "inputs/list.h"
#include "options/options.h"
#include "state/checkpoint.h"
#include "trainer/trainer.h"

#include <stdint.h>

typedef struct ddp_checkpoints ddp_checkpoints;

/* The settings of ddp_checkpoints_open. What they point to must outlive the ddp_checkpoints. */
typedef struct ddp_checkpoints_config {
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer;         /* the trainer, with its algorithms open, but not attached */
    const ddp_data_files *inputs; /* files that the run has read */
    const char *directory;        /* folder that the run saves in */
    const char *cfg;              /* path of the cfg, after which the files are named */
    const char *first_weights;    /* the file that the network was loaded from; NULL: none */
    const char *valid;            /* pictures that the run validates on, in words; NULL: none */
} ddp_checkpoints_config;

/* The checkpoint that a run goes on from. */
typedef struct ddp_run_origin {
    int resumed;   /* 1: the run goes on from a checkpoint; 0: it began anew */
    int validated; /* 1: the run goes on from a step whose validation has taken place */
    /* on rank 0 alone: */
    size_t saved_step;  /* step that the state file counts, maybe of another batch=; 0: new run */
    size_t valid_since; /* step since which the run validates on its present pictures; 0: always */
    int passed_over;    /* number of checkpoints that seemed newer but could not be used */
} ddp_run_origin;

/* Lock the name that the run saves under, and resume the run if the options ask for it. Which files
 * it resumes from is said by the START rows in checkpoint/find.h. Rank 0 loads net and the state of
 * the trainer's algorithms. Attaching the trainer later sends both to the other ranks. *seed, on
 * all ranks, becomes the seed of a resumed run. Collective. *out is set on success. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. Fails on rank 0 also with DDP_ERR_IO, as ddp_run_lock_take, and as
 * ddp_checkpoint_resume, with DDP_ERR_USAGE for its DDP_ERR_MISMATCH.
 *   net  the network as parsed */
ddp_status ddp_checkpoints_open(ddp_checkpoints **out, const ddp_checkpoints_config *config,
                                network *net, uint64_t *seed, ddp_error *err) DDP_MUST_CHECK;

/* Wait for saves that are being written, and free c. NULL is allowed. */
void ddp_checkpoints_close(ddp_checkpoints *c);

/* Return what the run goes on from. Valid as long as c. */
const ddp_run_origin *ddp_checkpoints_origin(const ddp_checkpoints *c);

/* Free rank 0's copy of the optimizer state of the checkpoint. Call when the trainer is attached:
 * it has sent each rank its slice. */
void ddp_checkpoints_attached(ddp_checkpoints *c);

/* Note the training list for later saves, and compare it with that of the checkpoint. Fails on rank
 * 0 with DDP_ERR_USAGE if it is another list; with -resume_force a line says so instead. */
ddp_status ddp_checkpoints_check_list(ddp_checkpoints *c, ddp_list list,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Copy rank 0's has[0..n) to all ranks, and note it for later saves: 0 for each picture of the
 * training list that has no label file. In a run resumed without -resume_force, rank 0 first
 * compares it with the checkpoint (ddp_recall_unlabelled). Collective. Fails with DDP_ERR_COMM,
 * DDP_ERR_USAGE (no room for an option), and on rank 0 as ddp_recall_unlabelled. */
ddp_status ddp_checkpoints_labelled(ddp_checkpoints *c, char *has, size_t n,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Rename the file at path if it is no weights file, or another cfg's. Call on rank 0 before Darknet
 * itself saves the average of the weights there. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_checkpoints_keep_before_average(const ddp_checkpoints *c, const char *path,
                                               ddp_error *err) DDP_MUST_CHECK;

/* Prepare the folder for the files of this run. Call just before training, when no rank can refuse
 * the run any more. Rank 0 removes half-written files of a killed run. Then it sets the files of an
 * earlier run aside if this run begins anew (checkpoint/set_aside.h). If it goes on from a finished
 * run, that run's final weights get a second name. With is_finished 1 (nothing is left to train)
 * rank 0 only removes half-written files. Fails with DDP_ERR_IO (also if another run has taken the
 * name over), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoints_begin(ddp_checkpoints *c, const network *net, int is_finished,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Start to save the first `cutoff` layers of net at path; a thread finishes it. Later calls of
 * ddp_checkpoints_poll tell whether it was saved. When this function returns, net may change. It
 * waits for an earlier save, and writes itself if there is no memory for a copy or the optimizer
 * state is in slices. net must be settled. Other ranks send rank 0 the state that only they have:
 * errors of compression, and slices of the optimizer state. Collective.
 *
 * If nothing was trained yet, write nothing and say so in a sentence. Exception: the run was
 * resumed from another path, and ddp_displaced_is_foreign returns 0 for this one.
 *
 * Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. Fails on rank 0 also with DDP_ERR_FORMAT (a number is not
 * finite), DDP_ERR_IO (another run has taken the name over), and as ddp_checkpoints_poll. Other
 * ranks may return DDP_OK where rank 0 fails. */
ddp_status ddp_checkpoints_save(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                ddp_error *err) DDP_MUST_CHECK;

/* Note the saves that have ended since the last call. Call after each step. With wait 1, first wait
 * until all saves are written. If a save has failed, fails as ddp_checkpoint_save; with
 * -ddp_on_save_error continue a line says so instead. Does nothing on ranks other than 0, and if c
 * is NULL. */
ddp_status ddp_checkpoints_poll(ddp_checkpoints *c, int wait, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if all saves are written. On rank 0. */
int ddp_checkpoints_are_written(const ddp_checkpoints *c);

/* Return the path of the weights that were saved last, else of those that the run goes on from.
 * NULL: there are none, c is NULL, or this is not rank 0. Valid until the next poll. */
const char *ddp_checkpoints_last(const ddp_checkpoints *c);

/* Return the paths of the *count weights files that this run has saved, the latest last. Option
 * -keep may have removed some. On rank 0. Valid until the next poll. */
char *const *ddp_checkpoints_saved(const ddp_checkpoints *c, size_t *count);

/* Return how many seconds the last save took; 0: there was none. On rank 0. */
double ddp_checkpoints_seconds(const ddp_checkpoints *c);

/* Return 1 if the save that ended last, before the last ddp_checkpoints_poll, failed; else 0.
 * Returns 0 if none has ended or c is NULL. On rank 0. */
int ddp_checkpoints_last_failed(const ddp_checkpoints *c);

#endif
