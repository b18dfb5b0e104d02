/* inputs/arguments.h: checks the files of a command before anything is started or written: of
 * what kind they are and, for some commands, whether they can be read and written. */
#ifndef DDP_INPUTS_ARGUMENTS_H
#define DDP_INPUTS_ARGUMENTS_H

#include "base/status.h"
#include "inputs/text_file.h"

/* The words of `darknet COMMAND train DATA CFG WEIGHTS`, and some options. A missing word is NULL;
 * some commands take no DATA. */
typedef struct ddp_arguments {
    const char *command, *data, *cfg, *weights;
    const char *backup;              /* value of -backup, for a run without DATA; NULL: "backup" */
    const char *trace, *tensorboard; /* values of -ddp_trace and -tensorboard; NULL: none */
    int allow_unknown;               /* 1: the .data file may have keys that nobody reads */
    int validates;                   /* 1: the run reads valid= and the files for validation */
    int saves;         /* 1: this process writes weights, trace and TensorBoard's events */
    int has_epochs;    /* 1: -epochs is given, in place of max_batches= */
    int width, height; /* values of -width and -height; 0: the cfg's */
    int elsewhere;     /* 1: files may be on other hosts alone, so those unreadable here pass */
} ddp_arguments;

/* Return 1 if `darknet COMMAND train` reads a .data file. */
int ddp_arguments_has_data(const char *command);

/* Check all files that a train command reads and writes. The error names the file and the key.
 * Fails with
 *   - DDP_ERR_USAGE if a file is not of the kind that its place wants (inputs/file_kinds.h);
 *   - DDP_ERR_USAGE if DATA lacks train=, or a classes= that the run needs;
 *   - DDP_ERR_USAGE if DATA has an unknown key, one twice, or a wrong number (inputs/data_keys.h);
 *   - DDP_ERR_IO if the run cannot read a file, or cannot write weights, trace or events;
 *   - DDP_ERR_FORMAT if train= lists no picture.
 * What CFG says is only checked if DATA is there and can be read. If a->elsewhere is 1, only
 * DDP_ERR_USAGE is checked, in the files that can be read here. */
ddp_status ddp_arguments_check(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Check DATA, CFG and WEIGHTS as ddp_arguments_check_places does. Fails also with DDP_ERR_IO if one
 * of these files cannot be read, whatever a->elsewhere is. */
ddp_status ddp_arguments_check_kinds(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Check that DATA, CFG and WEIGHTS are of the kinds that their places want, for any command. Fails
 * with DDP_ERR_USAGE, as for a cfg in the place of DATA, or another framework's model. If
 * a->validates is 1, fails also if DATA lacks a classes= that validation needs. Files that cannot
 * be read pass. a->command may be NULL if a->validates is 0. */
ddp_status ddp_arguments_check_places(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Call say(ctx, kind, why) for faults of DATA, of the files that it names, and of a CFG that does
 * not suit it. Left out: wrong numbers, a second fault of CFG, and a second key that stands twice.
 * For any command. a->data, a->cfg: not NULL. Unknown keys are faults unless a->allow_unknown.
 *   data  contents of DATA
 *   kind  constant that names the kind of fault: "data-key"
 *   why   the fault, as an error of ddp_arguments_check; valid during the call */
void ddp_arguments_each_fault(const ddp_arguments *a, const ddp_sections *data,
                              void (*say)(void *ctx, const char *kind, const ddp_error *why),
                              void *ctx);

#endif
