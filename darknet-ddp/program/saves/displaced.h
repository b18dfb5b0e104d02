/* saves/displaced.h: renames weights that have the name of a save but must not be lost, such as
 * those of another cfg, before the save writes its own. The SAVE rows of checkpoint/starts.def say
 * which weights these are. Their state file is renamed with them, and a line says so. On rank 0. */
#ifndef DDP_SAVES_DISPLACED_H
#define DDP_SAVES_DISPLACED_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stddef.h>

/* Rename BASE_best.weights in directory to BASE_best_N.weights, with its state file, N being the
 * first free number. Does nothing if it was saved at step `step`, or does not exist. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM.
 *   step  step of the best figure that the run knows; 0: it knows none */
ddp_status ddp_displaced_keep_best(const char *directory, const char *base, size_t step,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Return the step at which the weights at path were saved, by their state file. 0: there are no
 * weights; SIZE_MAX: their state file is missing or cannot be read. */
size_t ddp_displaced_step(const char *path);

/* Return 1 if no state file describes the file at path: it is missing, damaged, or of other
 * weights. Return 1 also if a file cannot be read, or memory is short. Return 0 if a state file
 * does, even a header alone, or if no file is at path. Reads all of both files. */
int ddp_displaced_is_foreign(const char *path);

/* Rename the weights at path to path.old or path.old.N, if the run named `base` must not write over
 * them. Does nothing if there are none. Fails with DDP_ERR_IO, DDP_ERR_NOMEM.
 *   is_own  1: this run has saved at path, or goes on from there; then only weights of another cfg
 *           are renamed. 0: neither; then all bytes of the weights may be read to decide
 *   step    step that the run goes on from; SIZE_MAX: it began anew */
ddp_status ddp_displaced_keep(const char *path, const char *base, int is_own, size_t step,
                              ddp_error *err) DDP_MUST_CHECK;

/* Rename the weights at path, which must exist, to path.old or path.old.N, and print a line. why:
 * the reason, words of this line such as "which ...". Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_old(const char *path, const char *why, ddp_error *err) DDP_MUST_CHECK;

/* Rename the file at path to path.old or path.old.N if it is no weights file, or another cfg's.
 * Call before the average of the weights is saved there. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_before_average(const char *path, const char *base,
                                             ddp_error *err) DDP_MUST_CHECK;

#endif
