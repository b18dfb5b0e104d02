/* saves/displaced.h: renames weights that lie where a run is about to save, if nobody has said that
 * they may go. Their state file goes with them, and a line says so: the SAVE rows of
 * checkpoint/starts.def. Weights may be of an earlier run, of another cfg, or no checkpoint at all.
 * On rank 0, by one thread at a time. */
#ifndef DDP_SAVES_DISPLACED_H
#define DDP_SAVES_DISPLACED_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stddef.h>

/* If BASE_best.weights is in directory, and is not of step `step`, rename it to
 * BASE_best_N.weights, N being the first free number. `step` is that of the best figure that the
 * run knows; 0: the run's figures were lost. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_best(const char *directory, const char *base, size_t step,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Return the step of the weights at path, as their state file says; 0: there are no weights;
 * SIZE_MAX: their state file cannot be read. */
size_t ddp_displaced_step(const char *path);

/* Return 1 if there are weights at path that cannot be read, or that no whole state file describes:
 * another program's, put there by hand, or with a damaged state. Reads all of both files. */
int ddp_displaced_is_foreign(const char *path);

/* Make room for the weights file `path`, which the run named `base` is about to save. Weights that
 * lie there are renamed path.old or path.old.N, or stay to be written over: checkpoint/starts.def.
 * With is_own 1 (this run has saved there, or goes on from there), only another cfg's weights are
 * renamed. `step`: the step that the run goes on from; SIZE_MAX: it began anew. Unless is_own is 1,
 * reads all bytes of the weights. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep(const char *path, const char *base, int is_own, size_t step,
                              ddp_error *err) DDP_MUST_CHECK;

/* Rename the weights at path, which must exist, to path.old or path.old.N. why: "which ...", for
 * the line that says so. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_old(const char *path, const char *why, ddp_error *err) DDP_MUST_CHECK;

/* Rename a file at path, as ddp_displaced_keep_old does, that holds another cfg's weights or is no
 * weights file: the average of a run's weights comes there. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_before_average(const char *path, const char *base,
                                             ddp_error *err) DDP_MUST_CHECK;

#endif
