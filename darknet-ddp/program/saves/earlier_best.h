/* saves/earlier_best.h: best weights that are there when a run goes on, where it does not know how
 * good they are: its figures were lost, or end before them. */
#ifndef DDP_SAVES_EARLIER_BEST_H
#define DDP_SAVES_EARLIER_BEST_H

#include "base/status.h"

#include <stddef.h>

/* If BASE_best.weights is in directory, and not of that step (0: of any), name it
 * BASE_best_N.weights, N being the first number that is free, and its state file like it, and say
 * so. step: of the best figure that the run knows; 0: it knows none. On rank 0, while nothing is
 * being saved. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_best_keep(const char *directory, const char *base, size_t step,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
