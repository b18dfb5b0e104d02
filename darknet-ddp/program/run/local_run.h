/* run/local_run.h: what is said of local SGD in a run. */
#ifndef DDP_RUN_LOCAL_RUN_H
#define DDP_RUN_LOCAL_RUN_H

#include "base/status.h"
#include "glue/trainer.h"
#include "options/options.h"

#include <stdio.h>

/* A line of the banner; nothing without local SGD. t is attached. */
void ddp_local_run_print(FILE *out, const ddp_options *o, const ddp_group *group,
                         const ddp_trainer *t);

/* At the run's end: what this rank has sent in so many steps; nothing without local SGD, or where
 * shared memory had it all, or NCCL sent it its own way. */
void ddp_local_run_print_sent(FILE *out, const ddp_options *o, const ddp_group *group,
                              size_t steps);

#endif
