/* cli/autotune_options.h: what -ddp_autotune 1 goes with. A pure function. */
#ifndef DDP_CLI_AUTOTUNE_OPTIONS_H
#define DDP_CLI_AUTOTUNE_OPTIONS_H

#include "base/status.h"
#include "cli/options.h"

/* DDP_ERR_USAGE: an option that it does not go with, or a command of `darknet ddp`. */
ddp_status ddp_autotune_options_check(const ddp_options *o, int is_ddp_command,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
