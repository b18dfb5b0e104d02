/* cli/evaluate.h: validates given weights on the pictures of valid=, for the commands `darknet ddp
 * map`, `valid` and `top`. */
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

/* Join the ranks, and load the .data file, the cfg and the weights that call->words name (DATA CFG
 * WEIGHTS). Collective. Ends the program on failure. command: "detector" or "classifier". */
void ddp_evaluate_open(ddp_evaluate *m, const char *command, const ddp_command_call *call);

/* Validate and return the result, valid until the next call or ddp_evaluate_close. Collective. Ends
 * the program on failure. found: function that gets a detector's boxes of all pictures on rank 0,
 * with ctx; NULL: none. */
const ddp_validation_result *ddp_evaluate_run(ddp_evaluate *m, ddp_found_listener found, void *ctx);

/* Free the network and the result, and leave the group. */
void ddp_evaluate_close(ddp_evaluate *m);

#endif
