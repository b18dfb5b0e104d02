/* bench/fit_run.h: shortens a cfg's run so that it ends within a given time (`darknet ddp cfg
 * -hours`). */
#ifndef DDP_BENCH_FIT_RUN_H
#define DDP_BENCH_FIT_RUN_H

#include <stddef.h>

/* number of steps below which a detector learns little: ddp_fit_run halves the batch to reach it */
enum { DDP_FEW_STEPS = 1000 };

/* Values of a cfg's [net] that say how long a run is, by key. */
typedef struct ddp_run_length {
    int batch, subdivisions, max_batches, burn_in;
} ddp_run_length;

/* Return how many steps fit into `seconds`, with a tenth left over for validating and saving.
 *   seconds_a_picture  time that all ranks together take for a picture
 *   batch              pictures of a step */
double ddp_fit_count(double seconds, double seconds_a_picture, int batch);

/* Return cfg's values, changed so that the run ends within `seconds`.
 *  1. While fewer steps fit than DDP_FEW_STEPS and than max_batches, halves batch and subdivisions,
 *     if both are even. Mini-batches keep their size. Stops before ranks would have unequal numbers
 *     of them, or all together fewer than 4.
 *  2. If fewer than max_batches steps fit (ddp_fit_count), max_batches becomes that number, and
 *     burn_in shrinks with it (ddp_burn_in_of). Both are 0 if not one step fits. */
ddp_run_length ddp_fit_run(ddp_run_length cfg, double seconds, double seconds_a_picture, int ranks);

/* Write to text[0..size) the steps= of a cfg, scaled from `was` max_batches to `is`.
 * "400000,450000" of 500000 batches becomes "800,900" of 1000. */
void ddp_fit_steps(const char *steps, int was, int is, char *text, size_t size);

#endif
