/* run/session.h: one run under -ddp: its group, its trainer, and what Darknet's
 * train commands ask of them.
 *
 * There is one at most in a process, because Darknet calls back without context.
 * Whatever fails here ends every rank with a message (show/rank_output.h).
 */
#ifndef DDP_RUN_SESSION_H
#define DDP_RUN_SESSION_H

#include "comm/group.h"
#include "launch/gpus.h"
#include "options/foreign_options.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Join the launcher's ranks (or none), agree on the seed, take this rank's GPU, and register
 * with Darknet. options must outlive the session. */
void ddp_session_open(const ddp_options *options);

/* What is about to train is `darknet COMMAND train DATA CFG ...`: look at some of its pictures, and
 * validate meanwhile, if DATA and the options say so. Each may be NULL. After opening, before
 * Darknet begins. Ends the program on failure. */
void ddp_session_validate(const char *command, const char *data, const char *cfg);

/* Take what the options have in place of the cfg's values; before the network is parsed. data is
 * what stands in the .data file's place. */
void ddp_session_override(const char *command, const char *data, const char *cfg);

/* The command begins with this weights file (NULL: with none), and with -clear if `clear`, which a
 * run that goes on from a checkpoint has no use for; taken: words that meant nothing, which lines
 * name. All stay as they are. Between the two. */
void ddp_session_begins_with(const char *weights, int clear,
                             const ddp_foreign_options_taken *taken);

/* Every rank is done: leave the group. Returns the exit status: 1 on rank 0 if its last save
 * failed, else 0. */
int ddp_session_close(void);

ddp_group *ddp_session_group(void);
const ddp_gpus *ddp_session_gpus(void);
ddp_trainer *ddp_session_trainer(void);

/* End every rank with err; fits ddp_trainer_config.fail. */
void ddp_session_fail(const ddp_error *err) __attribute__((noreturn));

#endif
