/* run/state.h: what the files of a session (session.c, begin.c, checkpoints.c, step.c, end.c)
 * share: the parts of the run, and calls from one of these files to another. Not for others. */
#ifndef DDP_RUN_STATE_H
#define DDP_RUN_STATE_H

#include "inputs/data_files.h"
#include "inputs/overrides.h"
#include "inputs/same_data.h"
#include "launch/gpus.h"
#include "launch/launcher_env.h"
#include "options/foreign_options.h"
#include "options/options.h"
#include "saves/checkpoints.h"
#include "show/run_files.h"
#include "show/step_line.h"
#include "show/wait_shares.h"
#include "trainer/plugin.h"
#include "trainer/trainer.h"
#include "validate/schedule.h"

#include <signal.h>

/* The run of this process: what several files need of it. The comment over each group of fields
 * names the file that sets them; end.c closes all. */
extern struct ddp_run {
    /* Set by session.c when it opens the session: options, ranks, seed and trainer. */
    const ddp_options *options;
    ddp_launcher launcher;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_watch *watch;             /* the watch over this process; NULL: none */
    volatile sig_atomic_t *asked; /* flags DDP_REQUEST_* that signals set (launch/signals.h) */
    uint64_t seed;                /* the run's seed; a resumed run has that of the checkpoint */
    ddp_bad_samples *bad_data;    /* this rank's record of samples that cannot be read */
    ddp_trainer *trainer;

    /* Set by session.c: the words and files of the command. */
    ddp_truth_files label_kind; /* which files have the pictures' labels */
    ddp_validation *validation; /* validation while training; NULL: none */
    int clear_given;            /* 1: -clear was given */
    const ddp_foreign_options_taken *foreign_options;
    ddp_overrides overrides;   /* values of options that replace the cfg's */
    const char *data, *cfg;    /* files that the command line names; NULL: none */
    char *list;                /* train= of the .data file; NULL: it has none */
    int is_detector;           /* 1: the command is detector */
    const char *first_weights; /* weights file that training begins with; NULL: none */

    /* Set by checkpoints.c. */
    const char *directory; /* folder that the weights are saved in */
    const char *cfg_path;
    /* 1: no batch was left to train at the start; records are then opened only if a validation is
     * missing */
    int is_finished;
    ddp_checkpoints *checkpoints;

    /* Opened by begin.c: files that the run reads and writes. */
    ddp_data_files inputs;  /* files that the run has read (inputs/data_files.h) */
    ddp_run_files *records; /* CSV, page and so on, on rank 0; NULL: none */
    ddp_wait_shares waits;
} ddp_run;

/* Return the clock and the run's counts at position `now`. Only while the trainer is attached. */
ddp_progress_now ddp_session_progress(const ddp_train_position *now);

/* Set the sentence on how to go on, or NULL: none. The text must stay valid. A run that ends early
 * prints it only if ddp_session_advise was called before. */
void ddp_session_prepare_advice(const char *resume_hint);

/* Have a run that ends early print the sentence of ddp_session_prepare_advice, because there is a
 * checkpoint. */
void ddp_session_advise(void);
/* Call ddp_session_advise if this rank is 0 and the run has saved something. */
void ddp_session_advise_if_saved(void);

/* ---- callbacks of the train commands (trainer/plugin.h), by when they are called ---- */

/* Set the callbacks save and resume (checkpoints.c). */
void ddp_session_checkpoint_callbacks(ddp_plugin_callbacks *callbacks);
/* Set the callbacks attached, reads, check_list and labelled (begin.c). */
void ddp_session_begin_callbacks(ddp_plugin_callbacks *callbacks);
/* Set the callback step_ended (step.c). */
void ddp_session_step_callbacks(ddp_plugin_callbacks *callbacks);
/* Set the callbacks leave, unreadable and end_unreadable (end.c). */
void ddp_session_end_callbacks(ddp_plugin_callbacks *callbacks);

/* ---- a missed validation (step.c) ---- */

/* If net was resumed from a step after which a validation was due and did not take place, validate
 * it now, and save as after any validation. Else do nothing. Collective. Fails as
 * ddp_validation_measure and ddp_best_keep_earlier. */
ddp_status ddp_session_validate_missed(network *net, const ddp_train_position *now,
                                       ddp_error *err) DDP_MUST_CHECK;

/* ---- weights at the start (checkpoints.c) ---- */

/* Fail with DDP_ERR_MISMATCH if ranks have loaded different weights. Collective. Fails also with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. Resumed runs pass: rank 0 alone reads checkpoints. */
ddp_status ddp_session_agree_on_weights(ddp_error *err) DDP_MUST_CHECK;

/* ---- a run's end (end.c) ---- */

/* End every rank before anything was written, with status 128 + number, because signal `number` has
 * asked for it. Collective. */
void ddp_session_end_untrained(int number) __attribute__((noreturn));

/* ---- steps of this run (step.c) ---- */

/* Show Darknet's line about a step. On rank 0, while the trainer is attached. */
void ddp_session_show_line(const ddp_train_position *position, const char *line);

/* Return how many steps this run has made. */
size_t ddp_session_steps(void);

/* Return how many validations without a best there were when -patience ended the run, else 0. */
int ddp_session_ends_early(void);

#endif
