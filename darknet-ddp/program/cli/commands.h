/* cli/commands.h: the commands `darknet ddp VERB` of options/ddp_commands.def. Each is a function
 * ddp_command_VERB. Helper functions for several commands follow. */
#ifndef DDP_CLI_COMMANDS_H
#define DDP_CLI_COMMANDS_H

#include "glue/network.h"
#include "launch/launcher_env.h"
#include "options/options.h"
#include "validate/schedule.h"

/* The command line of a command. */
typedef struct ddp_command_call {
    char **words; /* words after the command's name, without our options; NULL ends them */
    int count;    /* number of words, without NULL */
    const ddp_options *options;
    ddp_launcher launcher;
} ddp_command_call;

/* Run the command VERB, and return its exit status, such as 1 if it has found faults. An error ends
 * the program instead. Commands with the trait DDP_COMMAND_ON_RANKS are collective; call others on
 * rank 0 alone. */
#define COMMAND(id, verb, ...) int ddp_command_##verb(const ddp_command_call *call);
#include "options/ddp_commands.def"
#undef COMMAND

/* Print the help or the version, if the command line asks for it: `darknet help`, --help, -h or
 * --version. Returns 1 if it did, else 0. */
int ddp_command_print_help(int argc, char **argv);

/* Return lines that explain the .data file of "detector" or "classifier"; NULL for other
 * commands. */
const char *ddp_command_data_file(const char *command);

/* Load the cfg, with the width, height, batch and subdivisions of the options in place of its own;
 * print no table of layers. Set *shape. The caller frees the result with ddp_network_free. If
 * Darknet refuses the cfg, it ends the program. Calls ddp_rank_output_show_errors. gpu -1: the CPU.
 * draws: 1: draw first weights, for training. */
network *ddp_command_load(ddp_network_shape *shape, const char *cfg, const ddp_options *options,
                          int gpu, int draws);

/* Print a detector's average precision, recall and IoU on standard output, a line for each class,
 * and its mAP. points: number of recalls over which average precision is a mean. */
void ddp_print_precision(const ddp_validation_result *r, int points);

#endif
