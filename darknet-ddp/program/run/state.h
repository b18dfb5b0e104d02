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

/* The one of this process: Darknet calls back without context. Each part is opened by one file, and
 * closed by end.c; what only one file needs of a run is a static of its own. */
extern struct ddp_run {
    /* session.c: who trains, and by what. */
    const ddp_options *options;
    ddp_launcher launcher;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_watch *watch;             /* NULL: none */
    volatile sig_atomic_t *asked; /* of this rank, by signals */
    uint64_t seed;                /* a resumed run's, once it is resumed */
    ddp_bad_samples *bad_data;
    ddp_trainer *trainer;

    /* session.c: what the command said. */
    ddp_truth_files label_kind; /* of the pictures */
    ddp_validation *validation; /* NULL: none */
    int clear_given;            /* -clear */
    const ddp_foreign_options_taken *foreign_options;
    ddp_overrides overrides; /* of the cfg */
    const char *data, *cfg;  /* the files that it names; NULL: it names none */
    char *list;              /* train= of the .data file; NULL: it has none */
    int is_detector;
    const char *first_weights; /* the file that training begins with; NULL: none */

    /* checkpoints.c */
    const char *directory; /* of the weights */
    const char *cfg_path;
    int is_finished; /* as it was read: no batch is left to train, and no file is written */
    ddp_checkpoints *checkpoints;

    /* begin.c: what is read, and what is left of the run. */
    ddp_data_files inputs;
    ddp_run_files *records; /* on rank 0; NULL: none */
    ddp_wait_shares waits;
} ddp_run;

/* Where the run stands, as its lines show it. */
ddp_progress_now ddp_session_progress(const ddp_train_position *now);

/* How to go on where the run ends before its time: said from ddp_session_advise on, when there is a
 * checkpoint. resume_hint stays as it is. */
void ddp_session_prepare_advice(const char *resume_hint);
void ddp_session_advise(void);
void ddp_session_advise_if_saved(void); /* on rank 0, something of this run is on the disk */

/* ---- what the train commands ask (trainer/plugin.h), by when they ask it ---- */

/* Set save and resume: checkpoints.c. */
void ddp_session_checkpoint_callbacks(ddp_plugin_callbacks *callbacks);
/* Set attached, reads and check_list. */
void ddp_session_begin_callbacks(ddp_plugin_callbacks *callbacks);
/* Set step_ended. */
void ddp_session_step_callbacks(ddp_plugin_callbacks *callbacks);
/* Set leave, unreadable and end_unreadable. */
void ddp_session_end_callbacks(ddp_plugin_callbacks *callbacks);

/* ---- step.c ---- */

/* Validate a network that was resumed from a checkpoint of a step after which a validation is due,
 * where there was none. All ranks; fails as ddp_validation_measure. */
ddp_status ddp_session_validate_missed(network *net, const ddp_train_position *now,
                                       ddp_error *err) DDP_MUST_CHECK;

/* ---- checkpoints.c ---- */

/* Have all ranks loaded the same weights? Where rank 0 has resumed, its are meant to differ. Fails
 * as ddp_agree. */
ddp_status ddp_session_agree_on_weights(ddp_error *err) DDP_MUST_CHECK;

/* ---- end.c ---- */

/* Before anything was written: every rank ends, as this signal asks. */
void ddp_session_end_untrained(int number) __attribute__((noreturn));

/* ---- step.c ---- */

/* Show a step's line of Darknet. On rank 0. */
void ddp_session_show_line(const ddp_train_position *position, const char *line);

/* Steps of this run, and behind how many validations that were not the best -patience has ended it;
 * 0: it has not. */
size_t ddp_session_steps(void);
int ddp_session_ends_early(void);

#endif
