/* cli/evaluate.h: what the commands that measure given weights have in common: ranks, GPUs,
 * pictures, network. */
#ifndef DDP_CLI_EVALUATE_H
#define DDP_CLI_EVALUATE_H

#include "launch/gpus.h"
#include "validate/schedule.h"

typedef struct ddp_measure {
    ddp_group *group;
    ddp_gpus gpus;
    ddp_validation *validation;
    network *net;
    int rank;
} ddp_measure;

/* Join the ranks, read the .data file, and load cfg with the weights, on each rank. Ends the
 * program on failure. */
void ddp_measure_open(ddp_measure *m, const char *command, const char *data, const char *cfg,
                      const char *weights, const ddp_options *options, ddp_launcher launcher);

/* Validate on all ranks; listener as of ddp_validate_detector. Ends the program on failure. */
const ddp_validation_result *ddp_measure_run(ddp_measure *m, ddp_validation_listener listener,
                                             void *ctx);

/* Leave the group. */
void ddp_measure_close(ddp_measure *m);

#endif
