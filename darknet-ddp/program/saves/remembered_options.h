/* saves/remembered_options.h: what a state file says of the command line, the data files and the
 * build, so that -resume can compare it. */
#ifndef DDP_SAVES_REMEMBERED_OPTIONS_H
#define DDP_SAVES_REMEMBERED_OPTIONS_H

#include "inputs/data_files.h"
#include "options/options.h"
#include "state/checkpoint.h"

/* Fill run's options. ranks: how many train. valid: what is validated on, in words. Fails with
 * DDP_ERR_USAGE where they have no room. */
ddp_status ddp_remember_options(ddp_checkpoint_run *run, const ddp_options *options, int ranks,
                                const ddp_data_files *inputs, const char *valid,
                                ddp_error *err) DDP_MUST_CHECK;

#endif
