/* inputs/arguments.h: are the files of a train command what their places on the line say, and can
 * they be read? Before anything is started, made or written. */
#ifndef DDP_INPUTS_ARGUMENTS_H
#define DDP_INPUTS_ARGUMENTS_H

#include "base/status.h"
#include "base/suggest.h"
#include "inputs/text_file.h"

/* The words of `darknet COMMAND train DATA CFG WEIGHTS`, or without DATA; NULL: it is not there. */
typedef struct ddp_arguments {
    const char *command, *data, *cfg, *weights;
    const char *backup; /* of -backup; NULL: the .data file says */
    int allow_unknown;  /* keys of the .data file that nobody reads */
    int validates;      /* valid= and what it wants are read, too */
    int saves;          /* this process does */
    int has_epochs;     /* -epochs is given, in place of max_batches= */
    int elsewhere; /* the files may lie on other hosts alone: one that cannot be read is fine */
} ddp_arguments;

/* Does `darknet COMMAND train` read a .data file? */
int ddp_arguments_has_data(const char *command);

/* DDP_ERR_USAGE: DATA is a cfg, CFG is a .data file, DATA has no option at all, no train=, or a key
 * that nobody reads; a detector's CFG has no batch to train. DDP_ERR_IO: a file that the run reads
 * cannot be read, or its folder for weights not be written in; names the key and the file that name
 * it. DDP_ERR_FORMAT: no picture is listed. */
ddp_status ddp_arguments_check(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* The folder that the run saves in: backup= of the .data file, or where a run without one saves. */
void ddp_arguments_backup(const ddp_arguments *a, char *folder, size_t size);

/* The first option of a .data file that is a number, and whose value is none; NULL: there is none.
 */
const ddp_cfg_line *ddp_arguments_no_number(const ddp_sections *data);

/* The first option of a .data file that nobody reads; NULL: there is none. *near: what may have
 * been meant. */
const ddp_cfg_line *ddp_arguments_unknown_key(const ddp_sections *data, ddp_suggest *near);

#endif
