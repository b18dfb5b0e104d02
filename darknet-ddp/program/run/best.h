/* run/best.h: the figure of NAME_best.weights, with which the next validation is compared. A save
 * may fail, and a user may remove the file, so it is looked for on the disk. On rank 0. */
#ifndef DDP_RUN_BEST_H
#define DDP_RUN_BEST_H

#include "base/status.h"

#include <stddef.h>

/* Make the best figure that of the weights that lie on the disk, and print a line if it was
 * another. Does nothing while saves are being written, and if the run does not validate. */
void ddp_best_look(void);

/* Give NAME_best.weights another name if a run that goes on does not know their figure, and so not
 * whether its own are better. Call before this run writes them; only the first call does
 * something. step: that of the best figure that the run knows; 0: it knows none. Fails as
 * ddp_displaced_keep_best. */
ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err) DDP_MUST_CHECK;

#endif
