/* cli/commands.h: the commands `darknet ddp VERB` (options/ddp_commands.def), each a function of a
 * file of its own, and what several of them call. */
#ifndef DDP_CLI_COMMANDS_H
#define DDP_CLI_COMMANDS_H

#include "glue/network.h"
#include "launch/launcher_env.h"
#include "options/options.h"
#include "validate/schedule.h"

/* The command line of a command, from which our options have been taken. */
typedef struct ddp_command_call {
    char **words; /* words behind the command's name, without our options; NULL ends them */
    int count;    /* number of words */
    const ddp_options *options;
    ddp_launcher launcher;
} ddp_command_call;

/* Run a command to its end, and return the exit status: 0, or 1 for a finding, such as check's
 * errors. An error ends the program instead. Commands that run on ranks are collective; the others
 * are called on rank 0 alone. */
#define COMMAND(id, verb, ...) int ddp_command_##verb(const ddp_command_call *call);
#include "options/ddp_commands.def"
#undef COMMAND

/* Print what `darknet help`, `--help`, `-h`, `--version`, or --help behind any command asks for.
 * Returns 1 if it printed. Returns 0 if the command line asks for none of these. */
int ddp_command_front(int argc, char **argv);

/* Return lines that explain the .data file of "detector" or "classifier"; NULL for others. */
const char *ddp_command_data_file(const char *command);

/* Load cfg by ddp_network_load, with the width, height, batch and subdivisions that options give in
 * place of its own. Layers are not named on standard error. */
network *ddp_command_load(ddp_network_shape *shape, const char *cfg, const ddp_options *options,
                          int gpu, int draws);

/* Print average precision, recall and IoU of a detector on standard output, a class a line, and its
 * mAP. points: number of recalls over which average precision is taken. */
void ddp_print_precision(const ddp_validation_result *r, int points);

#endif
