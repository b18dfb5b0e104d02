/* cli/evaluate.h: what the commands that measure given weights have in common: ranks, GPUs,
 * pictures, network. */
#ifndef DDP_CLI_EVALUATE_H
#define DDP_CLI_EVALUATE_H

#include "launch/gpus.h"
#include "validate/schedule.h"

typedef struct ddp_evaluate {
    ddp_group *group;
    ddp_gpus gpus;
    ddp_validation *validation;
    network *net;
    int rank;
} ddp_evaluate;

/* Join the ranks, read the .data file, and load cfg with the weights, on each rank. Ends the
 * program on failure. */
void ddp_evaluate_open(ddp_evaluate *m, const char *command, const char *data, const char *cfg,
                       const char *weights, const ddp_options *options, ddp_launcher launcher);

/* Validate on all ranks; found as of ddp_validate_detector. Ends the program on failure, and where
 * a picture cannot be read. */
const ddp_validation_result *ddp_evaluate_run(ddp_evaluate *m, ddp_found_listener found, void *ctx);

/* Leave the group. */
void ddp_evaluate_close(ddp_evaluate *m);

#endif
