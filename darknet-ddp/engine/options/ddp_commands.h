/* options/ddp_commands.h: the commands of this program, `darknet ddp VERB`. Some have a second name
 * in the style of Darknet's commands, such as `darknet detector map`. */
#ifndef DDP_OPTIONS_DDP_COMMANDS_H
#define DDP_OPTIONS_DDP_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_command_id {
#define COMMAND(id, ...) DDP_COMMAND_##id,
#include "options/ddp_commands.def"
#undef COMMAND
} ddp_command_id;

/* Bits of the column `traits`; options/ddp_commands.def explains each. */
enum { DDP_COMMAND_ON_RANKS = 1, DDP_COMMAND_LAYERS = 2, DDP_COMMAND_OF_RUN = 4 };

/* A row of options/ddp_commands.def, which explains the fields. */
typedef struct ddp_ddp_command {
    ddp_command_id id;
    const char *verb;
    const char *name; /* second name, "detector map"; NULL: it has none */
    const char *words;
    int traits;
    const char *meaning;
} ddp_ddp_command;

/* Return row i of the table, from 0; NULL: there are no more. */
const ddp_ddp_command *ddp_ddp_command_at(size_t i);

/* Return the row with this verb; NULL: there is none. */
const ddp_ddp_command *ddp_ddp_command_find(const char *verb);

/* If argv[1] and argv[2] are a command's second name ("detector map"), replace them by "ddp" and
 * its verb. */
void ddp_ddp_command_rename(int argc, char **argv);

/* Return 1 if two words, such as "detector" and "map", are the second name of a command; else 0. */
int ddp_ddp_command_is_ours(const char *name, const char *verb);

/* Write a command's second name, or "ddp VERB" if it has none, to name[0..size). */
void ddp_ddp_command_name(const ddp_ddp_command *row, char *name, size_t size);

/* Return the row of argv, a line that ddp_options_parse has left: argv[1] is "ddp", argv[2] the
 * verb. If the verb is missing or unknown, or words are too few or too many, return NULL and set
 * *err to DDP_ERR_USAGE. */
const ddp_ddp_command *ddp_ddp_command_of(int argc, char **argv, ddp_error *err);

#endif
