/* cli/shard_options.h: what -ddp_shard_optimizer goes with. A pure function. */
#ifndef DDP_CLI_SHARD_OPTIONS_H
#define DDP_CLI_SHARD_OPTIONS_H

#include "base/status.h"
#include "cli/options.h"

/* DDP_ERR_USAGE: an option that it does not go with. */
ddp_status ddp_shard_options_check(const ddp_options *o, ddp_error *err) DDP_MUST_CHECK;

#endif
