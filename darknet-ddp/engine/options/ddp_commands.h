/* options/ddp_commands.h: the commands `darknet ddp ...`, and `darknet detector map`, which is one
 * of them. */
#ifndef DDP_OPTIONS_DDP_COMMANDS_H
#define DDP_OPTIONS_DDP_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_subcommand_id {
    DDP_SUBCOMMAND_CHECK,
    DDP_SUBCOMMAND_CFG,
    DDP_SUBCOMMAND_MAP,
    DDP_SUBCOMMAND_VALID,
    DDP_SUBCOMMAND_VALID_CLASSIFIER,
    DDP_SUBCOMMAND_PLAN,
    DDP_SUBCOMMAND_BENCH,
    DDP_SUBCOMMAND_OPTIONS,
    DDP_SUBCOMMAND_WHY,
    DDP_SUBCOMMAND_COMPLETION,
    DDP_SUBCOMMAND_MAN,
    DDP_SUBCOMMAND_HELP
} ddp_subcommand_id;

typedef struct ddp_ddp_command {
    ddp_subcommand_id id;
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

/* The name of a command by which people know it, "detector map" or "ddp plan", into name[size]. */
void ddp_ddp_command_name(const char *verb, char *name, size_t size);

/* Which command argv, less options, is. NULL and DDP_ERR_USAGE: none, or its words are not as it
 * wants them. */
const ddp_ddp_command *ddp_ddp_command_of(int argc, char **argv, ddp_error *err);

#endif
