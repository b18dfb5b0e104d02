/* cli/local_options.h: the options of local SGD: what they go with, and what they make of a run. */
#ifndef DDP_CLI_LOCAL_OPTIONS_H
#define DDP_CLI_LOCAL_OPTIONS_H

#include "base/status.h"
#include "cli/options.h"
#include "glue/trainer.h"

#include <stdio.h>

/* DDP_ERR_USAGE: an option that local SGD does not go with, or one of its own without it; or a
 * command of `darknet ddp`, which train nothing. */
ddp_status ddp_local_options_check(const ddp_options *o, int is_ddp_command,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Once GPUs are known. DDP_ERR_USAGE: it works on CPUs. */
ddp_status ddp_local_options_check_device(const ddp_options *o, const ddp_group *group,
                                          ddp_error *err) DDP_MUST_CHECK;

ddp_local_sgd_config ddp_local_options_config(const ddp_options *o);

/* A line of the banner; nothing without local SGD. t is attached. */
void ddp_local_options_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

/* At the run's end: what this rank has sent in so many steps; nothing without local SGD, or
 * where shared memory had it all. */
void ddp_local_options_print_sent(FILE *out, const ddp_options *o, const ddp_group *group,
                                  size_t steps);

#endif
