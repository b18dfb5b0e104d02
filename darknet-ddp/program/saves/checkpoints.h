/* saves/checkpoints.h: resumes a run from a checkpoint, and saves its checkpoints, as the options
 * say. A checkpoint is a weights file with a state file (state/checkpoint.h). The START rows of
 * checkpoint/starts.def say from which one a run resumes. Rank 0 alone reads and writes these
 * files.
 *
 * Call each function on all ranks, unless its comment says to call it on rank 0. If rank 0 alone
 * fails, it must end the job, since other ranks return DDP_OK or wait for it. Functions that talk
 * to other ranks fail also with DDP_ERR_COMM, DDP_ERR_NOMEM. Calls, in this order:
 *
 *   1. ddp_checkpoints_open, with the network as parsed: locks the run's name, and resumes
 *   2. ddp_checkpoints_attached, when the trainer is attached. (Then all ranks have rank 0's
 *      network.)
 *   3. ddp_checkpoints_begin: sets an earlier run's files aside
 *   4. ddp_checkpoints_check_list, ddp_checkpoints_labelled, when the training list is read
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
    ddp_trainer *trainer; /* the trainer, with its algorithms open, but not attached */
    /* small files that decide what is learnt (data_files.h); the state file remembers them */
    const ddp_data_files *inputs;
    const char *directory;     /* folder that the run saves in */
    const char *cfg;           /* path of the cfg, after which the files are named */
    const char *first_weights; /* the file that the network was loaded from; NULL: none */
    const char *valid; /* text that tells on which pictures the run validates; NULL: on none */
} ddp_checkpoints_config;

/* The checkpoint that a run goes on from. Ranks other than 0 know only `resumed` and `validated`;
 * their other fields are 0. */
typedef struct ddp_run_origin {
    int resumed;   /* 1: the run goes on from a checkpoint; 0: it began anew */
    int validated; /* 1: the run goes on from a step whose validation has taken place */
    /* on rank 0 alone: */
    /* the checkpoint's step, in batches of the size that it was saved with; 0: new run */
    size_t saved_step;
    size_t valid_since; /* last step validated on other pictures than this run's; 0: none */
    int passed_over;    /* number of checkpoints that seemed newer but could not be used */
} ddp_run_origin;

/* Lock the name that the run saves under; may wait 10 s for another run's end. With -resume or
 * -resume_force, rank 0 then loads net, and the state of the trainer's algorithms, from a
 * checkpoint. *out is NULL on failure. Fails with DDP_ERR_USAGE if another run owns the name, or
 * the checkpoint's cfg, options, seed or network are others. Fails also with DDP_ERR_FORMAT (no
 * checkpoint can be used), DDP_ERR_IO, DDP_ERR_NOMEM, DDP_ERR_COMM.
 *   net   the network as parsed
 *   seed  seed of the run; without -ddp_seed becomes that of the state file, on all ranks */
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
 * 0 with DDP_ERR_USAGE if it is another list. With -resume_force a line says so instead. */
ddp_status ddp_checkpoints_check_list(ddp_checkpoints *c, ddp_list list,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Note for later saves which of the training list's n pictures have label files. If the run was
 * resumed without -resume_force, rank 0 first calls ddp_recall_unlabelled. If pictures have lost
 * label files since the checkpoint, this prints a line and sets each has[i] to 1, so that these
 * pictures count as unreadable. But if some had none then already, it fails with DDP_ERR_USAGE.
 * Fails with DDP_ERR_USAGE also if a checkpoint has no room for an option.
 *   has  has[i]: 0 if picture i has no label file; rank 0's values replace those of other ranks */
ddp_status ddp_checkpoints_labelled(ddp_checkpoints *c, char *has, size_t n,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Rename the file at path (to path.old or path.old.N) if it is no weights file, or another cfg's.
 * Call on rank 0 before Darknet itself saves the average of the weights there. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_checkpoints_keep_before_average(const ddp_checkpoints *c, const char *path,
                                               ddp_error *err) DDP_MUST_CHECK;

/* Prepare the folder for the files of this run. Call just before training, when no rank can refuse
 * the run any more. Removes files that a killed run left half-written. A new run sets the files of
 * an earlier one aside (checkpoint/set_aside.h). A run that goes on from a finished one gives its
 * final weights a second name. Fails on rank 0 alone, with DDP_ERR_IO (also if another run has
 * taken the name over), DDP_ERR_NOMEM.
 *   is_finished  1: nothing is left to train; only half-written files are removed */
ddp_status ddp_checkpoints_begin(ddp_checkpoints *c, const network *net, int is_finished,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Start to save the first `cutoff` layers of net at path; may wait for earlier saves. When this
 * returns, net may change. ddp_checkpoints_poll tells later whether it was saved. Settle net before
 * (ddp_trainer_flush). Fails with DDP_ERR_FORMAT (a number of net is not finite), DDP_ERR_IO
 * (another run has taken the name over), and as ddp_checkpoints_poll.
 *
 * If nothing was trained yet, saves only a run resumed from another path than `path`. `path` must
 * then have no file, or one that its state file describes. Else prints a line, returns DDP_OK. */
ddp_status ddp_checkpoints_save(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                ddp_error *err) DDP_MUST_CHECK;

/* Note the saves that have ended since the last call; call after each step. If one has failed,
 * fails with the error of the first, such as DDP_ERR_IO for a full disk. With -ddp_on_save_error
 * continue a line says so instead. Does nothing on ranks other than 0, and if c is NULL.
 *   wait  1: first wait until all saves have ended; 0: do so only if one has failed */
ddp_status ddp_checkpoints_poll(ddp_checkpoints *c, int wait, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if no save waits or is being written; saves may have failed. On rank 0. */
int ddp_checkpoints_are_written(const ddp_checkpoints *c);

/* Return the path of the weights that were saved last, as of the last poll, else of those that the
 * run goes on from. NULL: there are none, c is NULL, or this is not rank 0. Valid until the next
 * poll or save. */
const char *ddp_checkpoints_last(const ddp_checkpoints *c);

/* Return the paths of the *count weights files that this process has saved, the latest last. Option
 * -keep may have removed some. On rank 0. Valid until the next poll or save. */
char *const *ddp_checkpoints_saved(const ddp_checkpoints *c, size_t *count);

/* Return the seconds that the last save noted by ddp_checkpoints_poll took; 0: none. On rank 0. */
double ddp_checkpoints_seconds(const ddp_checkpoints *c);

/* Return 1 if the last save to end failed, as far as ddp_checkpoints_poll has noted. Returns 0 if
 * no save has ended, or c is NULL. On rank 0. */
int ddp_checkpoints_last_failed(const ddp_checkpoints *c);

#endif
