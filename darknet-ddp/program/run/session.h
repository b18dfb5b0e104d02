/* run/session.h: one training run of this rank, from joining the other ranks to leaving them. A
 * process has one run at most. If a function here fails, it prints a message and ends every rank
 * (show/rank_output.h). Calls, in this order; `darknet ddp bench` makes the first and the last:
 *
 *   1. ddp_session_open joins the ranks, and registers callbacks with Darknet
 *   2. ddp_session_prepare checks the files of the command line
 *   3. Darknet's own main parses the cfg and trains, with these callbacks
 *   4. ddp_session_close ends the run, unless a callback has, as after a request to stop */
#ifndef DDP_RUN_SESSION_H
#define DDP_RUN_SESSION_H

#include "comm/group.h"
#include "launch/gpus.h"
#include "options/foreign_options.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Join the launcher's ranks, or be the only rank. Agree with them on the seed, take this rank's
 * GPU, and register callbacks with Darknet. Blocks until every rank is here. options must outlive
 * the session. */
void ddp_session_open(const ddp_options *options);

/* A command line `darknet COMMAND train DATA CFG WEIGHTS`. */
typedef struct ddp_session_command {
    const char *name;    /* name of COMMAND, such as "detector" */
    const char *data;    /* path of the .data file; NULL: COMMAND takes none */
    const char *cfg;     /* path of the cfg */
    const char *weights; /* weights file that training begins with; NULL: none */
    int clear;           /* 1: -clear is given */
    /* options without effect, which the run prints; not NULL */
    const ddp_foreign_options_taken *ignored;
} ddp_session_command;

/* Check the files that the command names, and pictures of their lists. Open the validation, if the
 * .data file and the options ask for one. Have Darknet take values of options, such as -epochs, in
 * place of the cfg's (inputs/overrides.h). What *command points to must outlive the session. Blocks
 * until every rank is here. */
void ddp_session_prepare(const ddp_session_command *command);

/* Wait for the run's saves, print its summary, and leave the group. Blocks until every rank is
 * here. Returns the exit status: 1 on rank 0 if its last save failed, else 0. */
int ddp_session_close(void);

/* Return the group, the GPUs or the trainer of the open session, valid until ddp_session_close. */
ddp_group *ddp_session_group(void);
const ddp_gpus *ddp_session_gpus(void);
ddp_trainer *ddp_session_trainer(void);

/* End every rank with err; fits ddp_trainer_config.fail. */
void ddp_session_fail(const ddp_error *err) __attribute__((noreturn));

#endif
