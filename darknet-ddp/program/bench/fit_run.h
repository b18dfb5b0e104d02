/* bench/fit_run.h: computes how long a run may be that has to end in a given time. */
#ifndef DDP_BENCH_FIT_RUN_H
#define DDP_BENCH_FIT_RUN_H

#include <stddef.h>

/* steps of a run below which a detector learns little */
enum { DDP_FEW_STEPS = 1000 };

/* Values of a cfg's [net], by key, that say how long a run is. */
typedef struct ddp_run_length {
    int batch, subdivisions, max_batches, burn_in;
} ddp_run_length;

/* Return how many steps of `batch` pictures fit into `seconds`, of which a tenth is left to
 * validating, saving and starting, if all ranks together take seconds_a_picture for a picture. */
double ddp_fit_count(double seconds, double seconds_a_picture, int batch);

/* Return the run most like cfg that ends within `seconds` (ddp_fit_count).
 *
 * While fewer than DDP_FEW_STEPS fit (and fewer than max_batches), batch and subdivisions are
 * halved, so mini-batches keep their size. Halving ends before fewer than 4 mini-batches are left,
 * or fewer than one a rank. Halving also ends where a half is no whole number, or ranks would get
 * unlike numbers of mini-batches. Then max_batches becomes how many steps fit, if the cfg has more,
 * and burn_in becomes that of ddp_burn_in_of. max_batches and burn_in are 0 if not one step
 * fits. */
ddp_run_length ddp_fit_run(ddp_run_length cfg, double seconds, double seconds_a_picture, int ranks);

/* Write to text[0..size) the value `steps` of steps=, scaled from a run of `was` batches to one of
 * `is`. "400000,450000" of 500000 batches becomes "800,900" of 1000. */
void ddp_fit_steps(const char *steps, int was, int is, char *text, size_t size);

#endif
