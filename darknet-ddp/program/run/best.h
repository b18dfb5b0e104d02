/* run/best.h: makes sure that the best validation figure of a run is that of the weights in the
 * file NAME_best.weights. A save may have failed, or a user removed the file. On rank 0. */
#ifndef DDP_RUN_BEST_H
#define DDP_RUN_BEST_H

#include "base/status.h"

#include <stddef.h>

/* Make the validation figure of the weights in NAME_best.weights the best figure of the run again,
 * if it is not, and print a line. If there is no such file, the run has no best figure then. Does
 * nothing if the run does not know the file's figure, does not validate, or is writing saves. */
void ddp_best_follow_file(void);

/* Rename NAME_best.weights if this run is resumed and does not know the file's figure, because its
 * own weights may be worse. Call before the run writes the file; only the first call does
 * something. step: the step of the best figure that the run knows; 0: it knows none. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err) DDP_MUST_CHECK;

#endif
