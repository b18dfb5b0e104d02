/* run/state.h: the state of a training run (run/session.h), for the files in run/ alone. Five of
 * them make up the run: session.c opens it, checkpoints.c saves and resumes, begin.c checks and
 * prints what it begins with, step.c follows each step, and end.c closes it. */
#ifndef DDP_RUN_STATE_H
#define DDP_RUN_STATE_H

#include "inputs/data_files.h"
#include "inputs/overrides.h"
#include "inputs/same_data.h"
#include "launch/gpus.h"
#include "launch/launcher_env.h"
#include "options/options.h"
#include "run/session.h"
#include "saves/checkpoints.h"
#include "show/run_files.h"
#include "show/step_line.h"
#include "show/wait_shares.h"
#include "trainer/plugin.h"
#include "trainer/trainer.h"
#include "validate/schedule.h"

#include <signal.h>

/* The run of this process. */
extern struct ddp_run {
    /* Members that ddp_session_open sets; first the options, in which bf16 is no longer `auto`. */
    const ddp_options *options;
    ddp_launcher launcher;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_watch *watch; /* the watch over this process; NULL: none */
    /* asked[q] becomes 1 if a signal (launch/signals.h) or step.c makes request q, a ddp_request;
     * ddp_loss_start sends the request, and sets asked[q] to 0 */
    volatile sig_atomic_t *asked;
    uint64_t seed;             /* the run's seed; resumed without -ddp_seed: the state file's */
    ddp_bad_samples *bad_data; /* this rank's record of samples that cannot be read */
    ddp_trainer *trainer;

    /* Members that ddp_session_prepare sets: the command line, and facts about it. */
    ddp_session_command command;
    int is_detector;            /* 1: the command is detector */
    ddp_truth_files label_kind; /* which files have the pictures' labels */
    ddp_validation *validation; /* validation while training; NULL: none */
    ddp_overrides overrides;    /* values of options that replace the cfg's */
    char *list;                 /* train= of the .data file; NULL: none, or unread */

    /* Folder that the weights are saved in. checkpoints.c sets this member, cfg_path and
     * checkpoints when the network is loaded. */
    const char *directory;
    const char *cfg_path;
    ddp_checkpoints *checkpoints;

    /* 1: no batch is left to train. begin.c sets this member and those up to `waits` before the
     * first step. */
    int is_finished;
    const char *advice;     /* sentence on how to resume; NULL: no memory */
    ddp_data_files inputs;  /* files that the run has read (inputs/data_files.h) */
    ddp_run_files *records; /* CSV file, page and so on; NULL: none, as on ranks other than 0 */
    ddp_wait_shares waits;

    size_t steps; /* number of steps since this process began; step.c sets this and the next one */
    /* validations since the best when -patience ended the run; 0: -patience did not end the run */
    int out_of_patience;
} ddp_run;

/* Return the clock and the run's counts at position `now`. Only while the trainer is attached. */
ddp_progress_now ddp_session_progress(const ddp_train_position *now);

/* Have the run print ddp_run.advice if an error ends it. Call when there is a checkpoint. */
void ddp_session_advise(void);
/* Call ddp_session_advise if this rank is 0 and the run has saved something. */
void ddp_session_advise_if_saved(void);

/* ---- callbacks of the train commands (trainer/plugin.h), by when they are called ---- */

/* Set the callbacks save and resume (checkpoints.c). */
void ddp_session_checkpoint_callbacks(ddp_plugin_callbacks *callbacks);
/* Set the callbacks attached, reads, check_list and labelled (begin.c). */
void ddp_session_begin_callbacks(ddp_plugin_callbacks *callbacks);
/* Set callbacks->step_ended to the function of step.c. */
void ddp_session_step_callbacks(ddp_plugin_callbacks *callbacks);
/* Set the callbacks leave, unreadable and end_unreadable (end.c). */
void ddp_session_end_callbacks(ddp_plugin_callbacks *callbacks);

/* ---- a missed validation (step.c) ---- */

/* If net was resumed from a step whose validation is missing, validate net now, and save it as
 * after any validation. Else do nothing. Collective. If pictures cannot be read, ends every rank.
 * Fails with DDP_ERR_USAGE (net does not fit the classes), DDP_ERR_IO, DDP_ERR_NOMEM, DDP_ERR_COMM.
 */
ddp_status ddp_session_validate_missed(network *net, const ddp_train_position *now,
                                       ddp_error *err) DDP_MUST_CHECK;

/* ---- weights at the start (checkpoints.c) ---- */

/* Fail with DDP_ERR_MISMATCH if ranks have loaded different weights. A resumed run passes, because
 * rank 0 alone reads its checkpoint. Collective. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_session_agree_on_weights(ddp_error *err) DDP_MUST_CHECK;

/* ---- a run's end (end.c) ---- */

/* End every rank with exit status 128 + number, because signal `number` asked the run to end before
 * it wrote anything. Collective. */
void ddp_session_end_untrained(int number) __attribute__((noreturn));

/* ---- a step (step.c) ---- */

/* Show Darknet's line about a step, with our figures behind it (show/step_line.h). Call on rank 0,
 * while the trainer is attached. */
void ddp_session_show_line(const ddp_train_position *position, const char *line);

#endif
