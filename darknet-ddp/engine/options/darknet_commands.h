/* options/darknet_commands.h: checks the command line of Darknet's own commands. Darknet itself
 * mostly ignores words and options that it does not know, so a table lists the words that each
 * command takes and the options that it reads (options/darknet_commands.def).
 *
 * argv is the command line, from which ddp_options_parse has removed our own options, with NULL at
 * its end and the program at argv[0]. Its *words* are what is left without the program, the options
 * and their values. Word 0 is the command's name. */
#ifndef DDP_OPTIONS_DARKNET_COMMANDS_H
#define DDP_OPTIONS_DARKNET_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_darknet_command_kind {
    DDP_READS,
    DDP_SHOWS,     /* needs a camera or video by OpenCV, which this program is built without */
    DDP_TRAINS,    /* trains, in one process only, and writes weights as it goes */
    DDP_TRAINS_DDP /* trains in one process or on ranks (-ddp) */
} ddp_darknet_command_kind;

/* A row of options/darknet_commands.def, which explains the columns. */
typedef struct ddp_darknet_command {
    const char *name, *verb, *words, *options;
    ddp_darknet_command_kind kind;
    const char *refusal;
} ddp_darknet_command;

/* Return row i of the table, from 0; NULL: no such row. Rows of one name follow each other. */
const ddp_darknet_command *ddp_darknet_command_at(size_t i);

/* The options that every command reads, as a list for ddp_darknet_next_option. */
extern const char *const ddp_darknet_everywhere;

/* Read the next option of a list like ddp_darknet_command.options, "-gpus LIST -clear", and
 * return 1. Writes "-gpus" to name and "LIST" to value, "" for an option without a value; each has
 * `size` bytes. *list becomes the rest. Returns 0 if *list is empty. */
int ddp_darknet_next_option(const char **list, char *name, char *value, size_t size);

/* Check that argv is a command of Darknet that this program can run. If a word is nearly right, the
 * error suggests another. Fails with DDP_ERR_USAGE for:
 *   - a command or verb that is missing or unknown, or a command of DDP_SHOWS
 *   - too few or too many words, or a word for LAYERS that is no number from 1
 *   - an option that the command does not read, or whose value is missing or no number
 *   - a -thresh that is no probability, but for the command `nightmare` */
ddp_status ddp_darknet_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Return word i of argv; NULL: it has fewer words. */
const char *ddp_darknet_word(int argc, char **argv, int i);

/* Return 1 if argv is the command `name` with this verb; verb is "" for a command without one. */
int ddp_darknet_is(int argc, char **argv, const char *name, const char *verb);

/* Return the value of an option in argv: the argument after it. NULL: the option is not there, or
 * is last. */
const char *ddp_darknet_option(char **argv, const char *option);

/* Return the word of argv for a place that the command's row names, such as "WEIGHTS"; NULL: the
 * command has no such place, or argv has no word there. */
const char *ddp_darknet_word_at(int argc, char **argv, const char *place);

/* Return the first index of a place in a row's words: 2 for "WEIGHTS" in "DATA CFG [WEIGHTS]".
 * -1: it is not there, or ends in "...". */
int ddp_words_find(const char *words, const char *place);

/* Return 1 if argv is a command that trains (DDP_TRAINS or DDP_TRAINS_DDP). */
int ddp_darknet_trains(int argc, char **argv);

/* Return 1 if argv is a command that may train on ranks (DDP_TRAINS_DDP). */
int ddp_darknet_trains_ddp(int argc, char **argv);

/* Fail with DDP_ERR_USAGE if argv is a command of the table that cannot run with -ddp; the text
 * says why. An unknown command or verb may pass: ddp_darknet_check refuses it. */
ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
