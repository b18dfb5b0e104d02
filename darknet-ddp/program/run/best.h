/* run/best.h: keeps the best validation figure that this run knows in step with the file
 * NAME_best.weights. A save may fail, and a user may remove the file. On rank 0. */
#ifndef DDP_RUN_BEST_H
#define DDP_RUN_BEST_H

#include "base/status.h"

#include <stddef.h>

/* Read from the disk which step NAME_best.weights were saved at. If the best figure is of another
 * step, make the figure of the file's step the best again, or none if there is no file, and print a
 * line. Does nothing if the run has no figure of that step, does not validate, or is writing
 * saves. */
void ddp_best_look(void);

/* If this run is resumed and does not know the figure of NAME_best.weights, rename that file: the
 * run cannot tell whether its own weights are better. Call before this run writes the file; only
 * the first call does something. step: that of the best figure that the run knows; 0: it knows
 * none. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err) DDP_MUST_CHECK;

#endif
