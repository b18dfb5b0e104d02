/* cli/check_cfg.h: would training refuse this cfg? Asked of the code that refuses. */
#ifndef DDP_CLI_CHECK_CFG_H
#define DDP_CLI_CHECK_CFG_H

#include "check/faults.h"
#include "cli/options.h"

/* Have this program parse cfg as training does, in a process of its own, for what Darknet refuses
 * ends the program: the first thing that is refused, keys, values, layers that do not fit, a batch
 * that cannot be cut into mini-batches, becomes an error of f. A program that cannot be started is
 * one too. */
void ddp_check_cfg(ddp_faults *f, const char *cfg, const ddp_options *options);

#endif
