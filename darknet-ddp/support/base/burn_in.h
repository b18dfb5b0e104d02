/* base/burn_in.h: computes burn_in=, how many batches the learning rate rises at the start, for a
 * run that is made shorter or longer than its cfg says. */
#ifndef DDP_BASE_BURN_IN_H
#define DDP_BASE_BURN_IN_H

#include <math.h>

/* Return burn_in= for a run of `batches`: cfg_burn_in * batches / cfg_batches, rounded, where these
 * are burn_in= and max_batches= (above 0) of the cfg. A run whose rate rises too fast diverges:
 * returns at least the smallest of 100, batches / 3 and cfg_burn_in. */
static inline double ddp_burn_in_of(double cfg_burn_in, double cfg_batches, double batches)
{
    const double least = fmin(cfg_burn_in, fmin(100, floor(batches / 3)));

    return fmax(least, round(cfg_burn_in * batches / cfg_batches));
}

#endif
