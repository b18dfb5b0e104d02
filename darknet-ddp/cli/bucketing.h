/* cli/bucketing.h: how options, and what is tuned, become buckets. Pure functions. */
#ifndef DDP_CLI_BUCKETING_H
#define DDP_CLI_BUCKETING_H

#include "bench/tune.h"
#include "cli/options.h"
#include "comm/group.h"
#include "glue/trainer.h"

/* What was asked for, or the defaults. */
ddp_tuning ddp_bucketing_asked(const ddp_options *options, const ddp_group *group);

ddp_bucketing ddp_bucketing_of(const ddp_tuning *tuning);

#endif
