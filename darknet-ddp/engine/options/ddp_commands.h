/* options/ddp_commands.h: the commands `darknet ddp ...`, and those of Darknet's command line that
 * are ours, such as `darknet detector map`. */
#ifndef DDP_OPTIONS_DDP_COMMANDS_H
#define DDP_OPTIONS_DDP_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_command_id {
#define COMMAND(id, ...) DDP_COMMAND_##id,
#include "options/ddp_commands.def"
#undef COMMAND
} ddp_command_id;

/* Bits of the column `traits` of the table, where each is explained. */
enum { DDP_COMMAND_ON_RANKS = 1, DDP_COMMAND_LAYERS = 2, DDP_COMMAND_OF_RUN = 4 };

/* A row of options/ddp_commands.def, which explains the fields. */
typedef struct ddp_ddp_command {
    ddp_command_id id;
    const char *verb;
    const char *name; /* "detector map"; NULL: it has no other name than "ddp VERB" */
    const char *words;
    int traits;
    const char *meaning;
} ddp_ddp_command;

/* Return row i of the table, from 0; NULL: there are no more. */
const ddp_ddp_command *ddp_ddp_command_at(size_t i);

/* Return the row with this verb; NULL: there is none. */
const ddp_ddp_command *ddp_ddp_command_find(const char *verb);

/* If argv[1] and argv[2] are a command's other name ("detector map"), replace them by "ddp" and its
 * verb. */
void ddp_ddp_command_rename(int argc, char **argv);

/* Return 1 if a command that people type as these two words, "detector" and "map", is ours. */
int ddp_ddp_command_is_ours(const char *name, const char *verb);

/* Write the name by which people know a command, "detector map" or "ddp plan", to name[0..size). */
void ddp_ddp_command_name(const ddp_ddp_command *row, char *name, size_t size);

/* Return the row of the command of argv, "ddp VERB ...", from which our options have been taken.
 * Returns NULL, with *err of DDP_ERR_USAGE, if there is no such verb, or if there are too few or
 * too many words. */
const ddp_ddp_command *ddp_ddp_command_of(int argc, char **argv, ddp_error *err);

#endif
