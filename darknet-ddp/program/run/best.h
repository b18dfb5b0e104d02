/* run/best.h: makes sure, on rank 0, that a run's best validation figure is that of
 * NAME_best.weights. If a save failed, the figure becomes that of the weights in the file; if a
 * user removed the file, there is none. A resumed run that does not know the file's figure renames
 * the file before it first saves its own. */
#ifndef DDP_RUN_BEST_H
#define DDP_RUN_BEST_H

#include "base/status.h"

#include <stddef.h>

/* Look whether NAME_best.weights was saved at the step of the run's best figure. If it is of
 * an earlier best's step, that figure becomes the best again. If there is no such file, forget the
 * best figure. In both cases print a line. Other ranks get rank 0's figure by
 * ddp_validation_share_best. Does nothing if the run has no best figure, no figure of the
 * file's step, or saves that are not written yet. */
void ddp_best_follow_file(void);

/* Rename NAME_best.weights if this run is resumed and the file is not of step `step`: the weights
 * that the run is about to save may be worse. Call before each write of the file; all calls but the
 * first do nothing. Fails with DDP_ERR_IO, DDP_ERR_NOMEM.
 *   step  step of the best figure that the run knows; 0: it knows none */
ddp_status ddp_best_keep_earlier(size_t step, ddp_error *err) DDP_MUST_CHECK;

#endif
