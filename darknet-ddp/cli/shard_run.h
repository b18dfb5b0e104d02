/* cli/shard_run.h: -ddp_shard_optimizer: where it works, and what it is in this run. */
#ifndef DDP_CLI_SHARD_RUN_H
#define DDP_CLI_SHARD_RUN_H

#include "base/status.h"
#include "cli/options.h"
#include "glue/trainer.h"

#include <stdio.h>

/* DDP_ERR_USAGE: the group computes on GPUs. */
ddp_status ddp_shard_run_check_device(const ddp_options *o, const ddp_group *group,
                                      ddp_error *err) DDP_MUST_CHECK;

/* A line about this rank's share, where there is one. t is attached. */
void ddp_shard_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
