/* base/burn_in.h: how many batches the learning rate rises in a run that was made shorter. */
#ifndef DDP_BASE_BURN_IN_H
#define DDP_BASE_BURN_IN_H

#include <math.h>

/* Return burn_in= of a run of `now` batches, for a cfg that has burn_in=own for `before` batches.
 * It stays the same fraction of the run, but is at least the least of own, 100 and a third of the
 * run. A run whose rate rises within a few batches diverges. */
static inline double ddp_burn_in_of(double own, double before, double now)
{
    const double least = fmin(own, fmin(100, floor(now / 3)));

    return fmax(least, round(own * now / before));
}

#endif
