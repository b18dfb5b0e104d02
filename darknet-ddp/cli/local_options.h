/* cli/local_options.h: the options of local SGD: what they go with. Pure functions. */
#ifndef DDP_CLI_LOCAL_OPTIONS_H
#define DDP_CLI_LOCAL_OPTIONS_H

#include "base/status.h"
#include "cli/options.h"
#include "core/local_sgd.h"

/* DDP_ERR_USAGE: an option that local SGD does not go with, or one of its own without it; or a
 * command of `darknet ddp`, which train nothing. */
ddp_status ddp_local_options_check(const ddp_options *o, int is_ddp_command,
                                   ddp_error *err) DDP_MUST_CHECK;

ddp_local_sgd_config ddp_local_options_config(const ddp_options *o);

#endif
