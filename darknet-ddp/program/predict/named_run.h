/* predict/named_run.h: replaces a run's name on a command line, such as backup/x, by its .data
 * file, cfg and weights. */
#ifndef DDP_PREDICT_NAMED_RUN_H
#define DDP_PREDICT_NAMED_RUN_H

#include "base/status.h"
#include "options/options.h"

/* The most words that ddp_named_run_expand adds to a command line. */
enum { DDP_NAMED_RUN_WORDS = 9 };

/* argv begins with "darknet ddp". If "VERB RUN" is all that follows, and the command VERB takes a
 * run (DDP_COMMAND_OF_RUN), replace RUN by "DATA CFG WEIGHTS...", taken from RUN.log and RUN's
 * folder. Call at most once in a process.
 *   argv           has room for DDP_NAMED_RUN_WORDS words more; new words stay valid for ever
 *   options->out   becomes RUN.VERB.html if it is NULL and RUN was replaced
 * Fails with DDP_ERR_IO (the log cannot be read, or there are no weights), DDP_ERR_FORMAT (the log
 * has a byte 0, or names no .data file or no cfg), DDP_ERR_NOMEM. Then argv must not be used. */
ddp_status ddp_named_run_expand(int *argc, char **argv, ddp_options *options,
                                ddp_error *err) DDP_MUST_CHECK;

#endif
