/* cli/plain_run.h: a command of Darknet's without -ddp. Darknet writes over what it finds; what a
 * run with -ddp has saved is kept. */
#ifndef DDP_CLI_PLAIN_RUN_H
#define DDP_CLI_PLAIN_RUN_H

#include "base/status.h"
#include "glue/darknet.h"
#include "inputs/arguments.h"

/* Before it trains: an earlier run's checkpoints are set aside, and the name is its own until it
 * ends. Fails as ddp_earlier_run_make_way. */
ddp_status ddp_plain_run_make_way(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* How its lines, errors and saves are handled. */
void ddp_plain_run_configure(ddp_darknet_config *darknet);

/* Run the command, and end what the terminal shows of it. Returns its exit status. */
int ddp_plain_run_train(int argc, char **argv);

#endif
