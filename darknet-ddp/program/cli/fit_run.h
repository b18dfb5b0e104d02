/* cli/fit_run.h: how long a run may be that has to end in a given time. */
#ifndef DDP_CLI_FIT_RUN_H
#define DDP_CLI_FIT_RUN_H

#include <stddef.h>

/* With fewer a detector learns little. */
enum { DDP_FEW_STEPS = 1000 };

/* As in [net] of a cfg. */
typedef struct ddp_run_length {
    int batch, subdivisions, max_batches, burn_in;
} ddp_run_length;

/* Which run of at most so many seconds is like `cfg`, where a picture takes seconds_a_picture on
 * all ranks together. A tenth of the time is left to validating, saving and starting. Where fewer
 * than DDP_FEW_STEPS fit the batch is halved, with its mini-batches as large as they were, down to
 * 4 or as many as there are ranks; then there are fewer steps, and burn_in is the same share of
 * them. max_batches 0: not one step fits. */
ddp_run_length ddp_fit_run(ddp_run_length cfg, double seconds, double seconds_a_picture, int ranks);

/* The steps= of a run of `was` batches for one of `is`: "400000,450000" of 500000 is "800,900" of
 * 1000. */
void ddp_fit_steps(const char *steps, int was, int is, char *text, size_t size);

#endif
