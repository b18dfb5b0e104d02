/* run/best.h: NAME_best.weights and the figure that is theirs. A save may fail, and a user may
 * remove them: what a validation is compared with is what lies on the disk. On rank 0. */
#ifndef DDP_RUN_BEST_H
#define DDP_RUN_BEST_H

#include "base/status.h"

#include <stddef.h>

/* The best figure is that of the weights that are there; a line says so where it was another.
 * Nothing is known while they are being written. Nothing is done where nothing is validated. */
void ddp_best_look(void);

/* Before this run first writes the weights: a run that goes on without the figure of those that are
 * there, which may be of a step behind its checkpoint, cannot tell whether they are better, and
 * they get another name. step: of the best that it knows; 0: none. Does so once; fails as
 * ddp_displaced_keep_best. */
ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err) DDP_MUST_CHECK;

#endif
