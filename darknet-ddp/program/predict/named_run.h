/* predict/named_run.h: lets a command name a run, such as backup/x, in place of the run's files. */
#ifndef DDP_PREDICT_NAMED_RUN_H
#define DDP_PREDICT_NAMED_RUN_H

#include "base/status.h"
#include "options/options.h"

/* How many words ddp_named_run_expand may add to a command line. */
enum { DDP_NAMED_RUN_WORDS = 9 };

/* If argv is "ddp VERB RUN", of a command with DDP_COMMAND_OF_RUN, replace RUN by the .data file,
 * the cfg and the weights of this run. RUN is the path of the run's log without .log. The log tells
 * the first two; the weights are those of ddp_own_weights_find. Without options->out, that becomes
 * RUN.VERB.html. argv must have room for DDP_NAMED_RUN_WORDS words more; what it gets lives until
 * the process ends. Fails with DDP_ERR_IO if the log or weights cannot be read, DDP_ERR_FORMAT if
 * the log names no .data file and cfg, DDP_ERR_NOMEM. */
ddp_status ddp_named_run_expand(int *argc, char **argv, ddp_options *options,
                                ddp_error *err) DDP_MUST_CHECK;

#endif
