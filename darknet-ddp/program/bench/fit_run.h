/* bench/fit_run.h: shortens a cfg's run so that it ends within a given time (`darknet ddp cfg
 * -hours`). */
#ifndef DDP_BENCH_FIT_RUN_H
#define DDP_BENCH_FIT_RUN_H

#include <stddef.h>

/* number of steps below which a detector learns little; ddp_fit_run then halves the batch */
enum { DDP_FEW_STEPS = 1000 };

/* Values of a cfg's [net] that say how long a run is, by key. */
typedef struct ddp_run_length {
    int batch, subdivisions, max_batches, burn_in;
} ddp_run_length;

/* Return how many steps fit into `seconds`, with a tenth left over for validating and saving.
 *   seconds_a_picture  time that all ranks together take for a picture
 *   batch              pictures of a step */
double ddp_fit_count(double seconds, double seconds_a_picture, int batch);

/* Return values for a run like cfg's that ends within `seconds` (ddp_fit_count). If max_batches is
 * more than the steps that fit, it becomes that number, and burn_in that of ddp_burn_in_of. Both
 * are 0 if not one step fits.
 *
 * If fewer than DDP_FEW_STEPS fit, and fewer than max_batches, batch and subdivisions are halved
 * first, as often as needed, so that more steps fit and mini-batches keep their size. Each half
 * must be a whole number, leave 4 mini-batches or more, and give each rank as many as any other. */
ddp_run_length ddp_fit_run(ddp_run_length cfg, double seconds, double seconds_a_picture, int ranks);

/* Write to text[0..size) the steps= of a cfg, scaled from `was` max_batches to `is`.
 * "400000,450000" of 500000 batches becomes "800,900" of 1000. */
void ddp_fit_steps(const char *steps, int was, int is, char *text, size_t size);

#endif
