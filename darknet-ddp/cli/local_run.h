/* cli/local_run.h: local SGD in a run: where it works, and what is said of it. */
#ifndef DDP_CLI_LOCAL_RUN_H
#define DDP_CLI_LOCAL_RUN_H

#include "base/status.h"
#include "cli/options.h"
#include "glue/trainer.h"

#include <stdio.h>

/* Once GPUs are known. DDP_ERR_USAGE: it works on CPUs. */
ddp_status ddp_local_run_check_device(const ddp_options *o, const ddp_group *group,
                                      ddp_error *err) DDP_MUST_CHECK;

/* A line of the banner; nothing without local SGD. t is attached. */
void ddp_local_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

/* At the run's end: what this rank has sent in so many steps; nothing without local SGD, or where
 * shared memory had it all. */
void ddp_local_run_print_sent(FILE *out, const ddp_options *o, const ddp_group *group,
                              size_t steps);

#endif
