/* saves/displaced.h: weights that lie where a run is about to save and that nobody has said may go.
 * They get another name, with their state file, and a line says so: the SAVE rows of
 * checkpoint/starts.def. On rank 0, by one thread at a time. */
#ifndef DDP_SAVES_DISPLACED_H
#define DDP_SAVES_DISPLACED_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stddef.h>

/* If BASE_best.weights is in directory and is not of this step, name it BASE_best_N.weights. N is
 * the first number that is free. step: that of the best figure that the run knows; 0: it knows
 * none, since its figures were lost. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_best(const char *directory, const char *base, size_t step,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Return the step of the weights at path, as their state file says; 0: there are no weights;
 * SIZE_MAX: their state file cannot be read. */
size_t ddp_displaced_step(const char *path);

/* Return 1 if there are weights at path that no whole state file describes: another program's, put
 * there by hand, or with a damaged state. Reads all of both files. */
int ddp_displaced_is_foreign(const char *path);

/* Make room at path before a run of base saves there, by the SAVE rows of checkpoint/starts.def.
 * Weights that lie there become path.old or path.old.N, or stay to be written over. With is_own,
 * this run has saved there before, or goes on from it, and only another cfg's weights move. The run
 * goes on from `step`; SIZE_MAX: it began anew. Reads all bytes of weights that are not its own.
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep(const char *path, const char *base, int is_own, size_t step,
                              ddp_error *err) DDP_MUST_CHECK;

/* Name the weights at path, which are there, path.old or path.old.N. why: "which ...", for the line
 * that says so. Fails as ddp_displaced_keep. */
ddp_status ddp_displaced_keep_old(const char *path, const char *why, ddp_error *err) DDP_MUST_CHECK;

/* Make room at path for the average of a run's weights, which has no state file: another cfg's
 * weights are kept, and a file that holds no weights. Fails as ddp_displaced_keep. */
ddp_status ddp_displaced_keep_before_average(const char *path, const char *base,
                                             ddp_error *err) DDP_MUST_CHECK;

/* Make room at path for a second name of the weights that `metadata` describe. *alike becomes 1 if
 * these very weights are there already; others get the name path.old. Fails as ddp_displaced_keep.
 */
ddp_status ddp_displaced_keep_unlike(const char *path, const ddp_checkpoint_metadata *metadata,
                                     int *alike, ddp_error *err) DDP_MUST_CHECK;

#endif
