/* cli/commands.h: `darknet ddp ...`. Each returns the program's exit status. */
#ifndef DDP_CLI_COMMANDS_H
#define DDP_CLI_COMMANDS_H

#include "glue/network.h"
#include "launch/launcher_env.h"
#include "options/options.h"
#include "validate/schedule.h"

/* darknet help, --help, -h, --version, and of any command: print it. 0: the command line is none
 * of these. */
int ddp_command_front(int argc, char **argv);

/* What a .data file says for a command: "detector" or "classifier"; NULL: of another nothing. */
const char *ddp_command_data_file(const char *command);

/* darknet ddp help */
int ddp_command_help(void);

/* darknet ddp options [-json [FILE]]: the table of options, as help has it or as data. */
int ddp_command_options(const ddp_options *options);

/* darknet ddp man [options]: darknet(1) in troff's language, or with the word
 * darknet-ddp-options(7), from the tables of commands and options. Ends the program where the word
 * is another. */
int ddp_command_man(const char *word);

/* darknet ddp completion bash|zsh: a script for the shell, from the same tables. */
int ddp_command_completion(const char *shell);

/* darknet ddp plan CFG [-np N]: the bucket plan, without training. */
int ddp_command_plan(const char *cfg, const ddp_options *options);

/* darknet ddp bench CFG: time steps on random data; collective. */
int ddp_command_bench(const char *cfg, const ddp_options *options);

/* Parse cfg with the sizes that options give instead of its own, for the GPU of this number, or
 * for the CPU: -1. Ends the program on failure. Layers are not named on standard error. */
network *ddp_command_load(ddp_network_shape *shape, const char *cfg, const ddp_options *options,
                          int gpu);

/* darknet ddp check DATA CFG [WEIGHTS]: all that is wrong with training data; collective. Exit
 * status 1: training would end, or learn something else than was meant. */
int ddp_command_check(const char *data, const char *cfg, const char *weights,
                      const ddp_options *options, ddp_launcher launcher);

/* darknet detector valid DATA CFG WEIGHTS: what is found on the pictures of valid=, in files as
 * Darknet writes them, and how good it is; collective. */
int ddp_command_valid(const char *data, const char *cfg, const char *weights,
                      const ddp_options *options, ddp_launcher launcher);

/* darknet classifier valid DATA CFG WEIGHTS: top-1, top-k and loss on the pictures of valid=;
 * collective. */
int ddp_command_top(const char *data, const char *cfg, const char *weights,
                    const ddp_options *options, ddp_launcher launcher);

/* Print figures of a detector, a class a line, and its mAP. points: recalls that it is over. */
void ddp_print_precision(const ddp_validation_result *r, int points);

/* darknet detector map DATA CFG WEIGHTS: average precision on the pictures of valid=; collective.
 */
int ddp_command_map(const char *data, const char *cfg, const char *weights,
                    const ddp_options *options, ddp_launcher launcher);

/* darknet ddp cfg NAME|CFG [-classes N] [-data DATA] [-hours H] [-o FILE]: write the cfg of a known
 * detector, or one that is there, for one's own classes, boxes and time. */
int ddp_command_cfg(const char *name, const ddp_options *options);

/* darknet ddp why FILE...: which rank of a run that failed broke off first. */
int ddp_command_why(char **paths, int count);

#endif
