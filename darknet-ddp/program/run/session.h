/* run/session.h: one training run: its group, its trainer, and the callbacks of Darknet's train
 * commands. A process has one at most, because Darknet calls back without context. Whatever fails
 * here ends every rank with a message (show/rank_output.h). Calls, in this order:
 *
 *   1. ddp_session_open
 *   2. ddp_session_override, before the network is parsed
 *   3. ddp_session_begins_with
 *   4. ddp_session_validate
 *   5. Darknet's own main, which trains
 *   6. ddp_session_close */
#ifndef DDP_RUN_SESSION_H
#define DDP_RUN_SESSION_H

#include "comm/group.h"
#include "launch/gpus.h"
#include "options/foreign_options.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Join the launcher's ranks, or be the only rank; agree on the seed, take this rank's GPU, and
 * register with Darknet. Blocks until every rank is here. options must outlive the session. */
void ddp_session_open(const ddp_options *options);

/* Check the files of `darknet COMMAND train DATA CFG ...` and some of its pictures. Open the
 * validation, if DATA and the options ask for one. data, cfg: NULL if the line has none. Call after
 * ddp_session_begins_with. Blocks until every rank is here. */
void ddp_session_validate(const char *command, const char *data, const char *cfg);

/* Put the values of the options in inputs/overrides.h in place of those of the cfg's [net]. Also
 * find the training list in the .data file. command: Darknet's, such as "detector". data: the word
 * for the .data file, which is not read if the command takes none. Call before parsing. */
void ddp_session_override(const char *command, const char *data, const char *cfg);

/* Tell what the run begins with. Call after ddp_session_override and before ddp_session_validate.
 * Pointers must stay valid for the whole run.
 *   weights  the weights file of the line; NULL: none
 *   clear    1: -clear was given
 *   taken    options that were accepted without effect; the run prints them */
void ddp_session_begins_with(const char *weights, int clear,
                             const ddp_foreign_options_taken *taken);

/* Close the session and leave the group; blocks until every rank is here. Returns the exit status:
 * 1 on rank 0 if its last save failed, else 0. */
int ddp_session_close(void);

/* Return the group, the GPUs or the trainer of the open session, valid until ddp_session_close. */
ddp_group *ddp_session_group(void);
const ddp_gpus *ddp_session_gpus(void);
ddp_trainer *ddp_session_trainer(void);

/* End every rank with err; fits ddp_trainer_config.fail. */
void ddp_session_fail(const ddp_error *err) __attribute__((noreturn));

#endif
