/* options/darknet_commands.h: what Darknet's own commands are, which words each wants and which
 * options it reads. Darknet itself passes over what it does not know. */
#ifndef DDP_OPTIONS_DARKNET_COMMANDS_H
#define DDP_OPTIONS_DARKNET_COMMANDS_H

#include "base/status.h"

#include <stddef.h>

typedef enum ddp_darknet_does { DDP_READS, DDP_SHOWS, DDP_TRAINS, DDP_TRAINS_DDP } ddp_darknet_does;

/* A row of options/darknet_commands.def, where the columns are explained. */
typedef struct ddp_darknet_command {
    const char *name, *verb, *words, *options;
    ddp_darknet_does does;
    const char *refusal;
} ddp_darknet_command;

/* Row i of the table, whose commands stand together; NULL: there are no more. */
const ddp_darknet_command *ddp_darknet_command_at(size_t i);

/* The options of every command, as a row lists its own. */
extern const char *const ddp_darknet_everywhere;

/* Take the next name off such a list, which becomes what is left of it, and what stands for its
 * value, "" if it has none; each has room for size bytes. 0: the list has ended. */
int ddp_darknet_next_option(const char **list, char *name, char *value, size_t size);

/* argv, less our own options, is a command of Darknet's: does it exist, does it read every
 * option on the line, has it the words that it wants, and can this program do it? DDP_ERR_USAGE
 * says what it does not know, and what may have been meant. */
ddp_status ddp_darknet_check(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

/* Word number i of argv, less options and their values: 0 is the command. NULL: there are fewer. */
const char *ddp_darknet_word(int argc, char **argv, int i);

/* Is it this command? verb: "" for one without. */
int ddp_darknet_is(int argc, char **argv, const char *name, const char *verb);

/* What follows an option on the line; NULL: the option is not there. */
const char *ddp_darknet_option(char **argv, const char *option);

/* The word that stands where its usage has this one, "OUT" say. NULL: there is none. */
const char *ddp_darknet_word_at(int argc, char **argv, const char *place);

/* Its number in a list of words, from 0, in brackets or not; -1: it is not there. */
int ddp_words_find(const char *words, const char *place);

/* Does this command write weights as it goes? */
int ddp_darknet_trains(int argc, char **argv);

/* Does it train, and may it do so under -ddp? */
int ddp_darknet_trains_ddp(int argc, char **argv);

/* Fail with DDP_ERR_USAGE if the command is one of the table that cannot run under -ddp; the text
 * says why. ddp_darknet_check looks at all else. */
ddp_status ddp_darknet_check_ddp(int argc, char **argv, ddp_error *err) DDP_MUST_CHECK;

#endif
