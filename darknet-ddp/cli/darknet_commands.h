/* cli/darknet_commands.h: what Darknet's own commands are, and which options each reads. Darknet
 * itself passes over what it does not know. */
#ifndef DDP_CLI_DARKNET_COMMANDS_H
#define DDP_CLI_DARKNET_COMMANDS_H

#include "base/status.h"

/* argv, less our own options, is a command of Darknet's: does it exist, and does it read every
 * option on the line? DDP_ERR_USAGE says what it does not know, and what may have been meant. */
ddp_status ddp_darknet_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Does this command write weights as it goes? */
int ddp_darknet_trains(int argc, char **argv);

/* Can this command run under -ddp? DDP_ERR_USAGE: no; the text says why. */
ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
