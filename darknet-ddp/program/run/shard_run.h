/* run/shard_run.h: what -ddp_shard_optimizer is in this run. */
#ifndef DDP_RUN_SHARD_RUN_H
#define DDP_RUN_SHARD_RUN_H

#include "base/status.h"
#include "glue/trainer.h"
#include "options/options.h"

#include <stdio.h>

/* A line about this rank's share, where there is one. t is attached. */
void ddp_shard_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
