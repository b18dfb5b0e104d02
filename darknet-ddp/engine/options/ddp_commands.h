/* options/ddp_commands.h: the commands `darknet ddp ...`, and `darknet detector map`, which is one
 * of them. */
#ifndef DDP_OPTIONS_DDP_COMMANDS_H
#define DDP_OPTIONS_DDP_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_own {
    DDP_OWN_CHECK,
    DDP_OWN_CFG,
    DDP_OWN_MAP,
    DDP_OWN_VALID,
    DDP_OWN_TOP,
    DDP_OWN_PLAN,
    DDP_OWN_BENCH,
    DDP_OWN_OPTIONS,
    DDP_OWN_WHY,
    DDP_OWN_COMPLETION,
    DDP_OWN_MAN,
    DDP_OWN_HELP
} ddp_own;

typedef struct ddp_ddp_command {
    ddp_own id;
    const char *verb;
    const char
        *words; /* that follow: [LIKE THIS] may be left out, LIKE... may stand several times */
    int ranks;  /* it can run on several */
    const char *meaning;
} ddp_ddp_command;

/* Row i of the table; NULL: there are no more. */
const ddp_ddp_command *ddp_ddp_command_at(size_t i);

/* argv[1..2], where they are one of these by the name that people know, become its own. */
void ddp_ddp_command_rename(int argc, char **argv);

/* Which command argv, less options, is. NULL and DDP_ERR_USAGE: none, or its words are not as it
 * wants them. */
const ddp_ddp_command *ddp_ddp_command_of(int argc, char **argv, ddp_error *err);

#endif
