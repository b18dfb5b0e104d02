/* run/state.h: what the files of a session (cli/session*.c) share, and nobody else sees: the
 * run that it is, and the calls from one of them to another. */
#ifndef DDP_RUN_STATE_H
#define DDP_RUN_STATE_H

#include "glue/plugin.h"
#include "glue/trainer.h"
#include "inputs/data_files.h"
#include "inputs/same_data.h"
#include "launch/gpus.h"
#include "launch/launcher_env.h"
#include "options/options.h"
#include "saves/policy.h"
#include "show/run_files.h"
#include "show/step_line.h"
#include "show/wait_shares.h"
#include "validate/schedule.h"

#include <signal.h>

/* The one of this process: Darknet calls back without context. */
extern struct ddp_run ddp_run;

struct ddp_run {
    const ddp_options *options;
    ddp_launcher launcher;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_trainer *trainer;
    ddp_checkpoints *checkpoints;
    ddp_inputs inputs;
    uint64_t weights_hash; /* of the network as it was loaded */
    ddp_truth_files truth; /* of the pictures */
    ddp_bad_data *bad_data;
    ddp_validation *validation; /* NULL: none */
    int validation_waits;       /* for ranks to be alike */
    ddp_records *records;       /* on rank 0; NULL: none */
    ddp_waits waits;
    int clears;                   /* the command has -clear */
    int width, height;            /* of the cfg */
    const char *directory;        /* of the weights */
    char *advice;                 /* how to go on, once there is a checkpoint */
    int64_t ended_ns;             /* the last step */
    size_t steps;                 /* of this run */
    int ends_early;               /* by -patience */
    int grace_is_short;           /* it was said */
    ddp_watch *watch;             /* NULL: none */
    volatile sig_atomic_t *asked; /* of this rank, by signals */
    uint64_t seed;
};

/* ---- what the train commands ask (glue/plugin.h), by when they ask it ---- */

/* Set resume, attached, reads and check_list. */
void ddp_session_begin_callbacks(ddp_plugin_callbacks *callbacks);
/* Set step_ended and save. */
void ddp_session_step_callbacks(ddp_plugin_callbacks *callbacks);
/* Set leave, unreadable and end_unreadable. */
void ddp_session_end_callbacks(ddp_plugin_callbacks *callbacks);

/* Where the run stands, as its lines show it. */
ddp_progress_now ddp_session_progress(const ddp_position *now);

/* Show a step's line of Darknet. On rank 0. */
void ddp_session_show_line(const ddp_position *position, const char *line);

/* From here on, say how to go on wherever the run ends. */
void ddp_session_advise(void);

#endif
