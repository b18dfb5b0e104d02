/* cli/evaluate.h: opens what commands that measure given weights need: ranks, pictures, the
 * network. */
#ifndef DDP_CLI_EVALUATE_H
#define DDP_CLI_EVALUATE_H

#include "cli/commands.h"
#include "launch/gpus.h"
#include "validate/schedule.h"

typedef struct ddp_evaluate {
    ddp_group *group;
    ddp_gpus gpus;
    ddp_validation *validation;
    network *net;
    int rank; /* this rank's number in group */
} ddp_evaluate;

/* Join the ranks, read the .data file, and load cfg and weights on each rank. command: "detector"
 * or "classifier". call->words: DATA CFG WEIGHTS. Collective; ends the program on failure. */
void ddp_evaluate_open(ddp_evaluate *m, const char *command, const ddp_command_call *call);

/* Validate on all ranks and return the result, which lives until ddp_evaluate_close. found: gets
 * the boxes of all pictures on rank 0, with ctx; NULL: none. Collective; ends the program where
 * ddp_validation_measure fails. */
const ddp_validation_result *ddp_evaluate_run(ddp_evaluate *m, ddp_found_listener found, void *ctx);

/* Free the network and the result, and leave the group. */
void ddp_evaluate_close(ddp_evaluate *m);

#endif
