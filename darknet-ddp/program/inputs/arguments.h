/* inputs/arguments.h: are the files of a train command what their places on the line say, and can
 * they be read? Before anything is started, made or written. */
#ifndef DDP_INPUTS_ARGUMENTS_H
#define DDP_INPUTS_ARGUMENTS_H

#include "base/status.h"
#include "inputs/text_file.h"

/* The words of `darknet COMMAND train DATA CFG WEIGHTS`, or without DATA; NULL: it is not there. */
typedef struct ddp_arguments {
    const char *command, *data, *cfg, *weights;
    const char *backup;              /* of -backup; NULL: the .data file says */
    const char *trace, *tensorboard; /* of -ddp_trace and -tensorboard; NULL: none */
    int allow_unknown;               /* keys of the .data file that nobody reads */
    int validates;                   /* valid= and what it wants are read, too */
    int saves;                       /* this process does */
    int has_epochs;                  /* -epochs is given, in place of max_batches= */
    int width, height;               /* the same of -width and -height; 0: the cfg says */
    int elsewhere; /* the files may lie on other hosts alone: one that cannot be read is fine */
} ddp_arguments;

/* Does `darknet COMMAND train` read a .data file? */
int ddp_arguments_has_data(const char *command);

/* DDP_ERR_USAGE: DATA is a cfg, CFG is a .data file, or one of them a weights file, or WEIGHTS
 * none, CFG or WEIGHTS is a model of another framework, by its name, CFG is of another kind of
 * network than COMMAND trains, gives no loss or has another number of outputs than classes, DATA
 * has no option at all, no train=, or a key that nobody reads; a detector's CFG has no batch to
 * train, or a policy no end. DDP_ERR_IO: a file that the run reads cannot be read, or its folder
 * for weights, trace or events not be written in; names the key and the file that name it.
 * DDP_ERR_FORMAT: no picture is listed. */
ddp_status ddp_arguments_check(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* The part of it that looks at what kinds of files DATA and CFG are, which are read in any case. */
ddp_status ddp_arguments_check_kinds(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* DDP_ERR_USAGE: of the files that a command of any kind is to read (NULL: none) one stands in the
 * place of another, or is a model of another framework; or, where a->validates, DATA wants classes=
 * and has none. One that cannot be read is for the command to say. */
ddp_status ddp_arguments_check_places(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Say all that is wrong with the .data file and what it names, each as ddp_arguments_check would,
 * for some command: files that only one of them reads, too. kind: short and fixed. Keys that nobody
 * reads are said unless a->allow_unknown. */
void ddp_arguments_each_fault(const ddp_arguments *a, const ddp_sections *data,
                              void (*say)(void *ctx, const char *kind, const ddp_error *why),
                              void *ctx);

#endif
