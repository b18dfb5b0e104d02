/* options/darknet_commands.h: Darknet's own commands, the words that each wants and the options
 * that it reads. Darknet itself passes over words that it does not know. argv is the command line
 * with NULL at its end; argv[0], the program, is no word of it. */
#ifndef DDP_OPTIONS_DARKNET_COMMANDS_H
#define DDP_OPTIONS_DARKNET_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

/* Kinds of commands, by what they do; options/darknet_commands.def explains each. */
typedef enum ddp_darknet_does { DDP_READS, DDP_SHOWS, DDP_TRAINS, DDP_TRAINS_DDP } ddp_darknet_does;

/* A row of options/darknet_commands.def, where the columns are explained. */
typedef struct ddp_darknet_command {
    const char *name, *verb, *words, *options;
    ddp_darknet_does does;
    const char *refusal;
} ddp_darknet_command;

/* Return row i of the table, from 0; a command's rows stand together. NULL: there are no more. */
const ddp_darknet_command *ddp_darknet_command_at(size_t i);

/* Options that every command reads, as a list like ddp_darknet_command.options. */
extern const char *const ddp_darknet_everywhere;

/* Take the next option off a list like ddp_darknet_command.options, and return 1. Writes its name,
 * and the word that stands for its value ("" if it has none), each into size bytes. *list becomes
 * the rest. Returns 0 if the list has ended. */
int ddp_darknet_next_option(const char **list, char *name, char *value, size_t size);

/* Check that argv is a command of Darknet's; call when our own options have been taken out of it.
 * Fails with DDP_ERR_USAGE if there is no such command, this program cannot run it, or it has too
 * few or too many words. Fails so, too, for an option that the command does not read, or whose
 * value is missing, no number or out of range. For a word that is nearly right the text suggests
 * one. */
ddp_status ddp_darknet_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Return word i of argv; word 0 is the command's name. Options and their values do not count. NULL:
 * there are fewer words. */
const char *ddp_darknet_word(int argc, char **argv, int i);

/* Return 1 if argv is the command `name` with this verb; verb is "" for a command without one. */
int ddp_darknet_is(int argc, char **argv, const char *name, const char *verb);

/* Return the word behind an option on the line; NULL if the option is not there, or is last. */
const char *ddp_darknet_option(char **argv, const char *option);

/* Return the word of argv at the place that its command's row calls `place`, such as "OUT"; else
 * NULL. */
const char *ddp_darknet_word_at(int argc, char **argv, const char *place);

/* Return the index of a place in words such as "DATA CFG [WEIGHTS]"; -1: it is not there. */
int ddp_words_find(const char *words, const char *place);

/* Return 1 if argv is a command that trains, and so writes weights as it goes. */
int ddp_darknet_trains(int argc, char **argv);

/* Return 1 if argv is a command that trains and may do so on ranks. */
int ddp_darknet_trains_ddp(int argc, char **argv);

/* Fail with DDP_ERR_USAGE if argv is a command of the table that cannot run under -ddp; the text
 * says why. Anything else passes, for ddp_darknet_check. */
ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
