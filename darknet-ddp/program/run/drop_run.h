/* run/drop_run.h: what is said of a run that leaves residual blocks out. */
#ifndef DDP_RUN_DROP_RUN_H
#define DDP_RUN_DROP_RUN_H

#include "glue/trainer.h"
#include "options/options.h"

#include <stdio.h>

/* A line of the banner; nothing without -ddp_layer_drop. t is attached. */
void ddp_drop_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

/* At the run's end: how many were, and what this rank has sent in so many steps, unless shared
 * memory had it all; nothing without -ddp_layer_drop, or where no step was trained. */
void ddp_drop_run_print_end(FILE *out, const ddp_trainer *t, const ddp_group *group, size_t steps);

#endif
