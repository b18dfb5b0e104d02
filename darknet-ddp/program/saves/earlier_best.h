/* saves/earlier_best.h: the best weights of an earlier run, where it is no longer known how good
 * they are. */
#ifndef DDP_SAVES_EARLIER_BEST_H
#define DDP_SAVES_EARLIER_BEST_H

#include "base/status.h"

/* If BASE_best.weights is in directory, name it BASE_best_N.weights, N being the first number that
 * is free, and its state file like it, and say so. On rank 0, while nothing is being saved. Fails
 * with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_best_rename(const char *directory, const char *base,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
