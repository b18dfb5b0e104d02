/* saves/displaced.h: weights that a save is about to write over, and that nobody has said may go:
 * they get another name, and so does their state file. On rank 0, by one thread at a time, while
 * nothing is being saved there; a line says so. */
#ifndef DDP_SAVES_DISPLACED_H
#define DDP_SAVES_DISPLACED_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

#include <stddef.h>

/* Best weights of which a run that goes on does not know how good they are: its figures were lost,
 * or end before them. If BASE_best.weights is in directory, and not of that step (0: of any), name
 * it BASE_best_N.weights, N being the first number that is free. step: of the best figure that the
 * run knows; 0: it knows none. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep_best(const char *directory, const char *base, size_t step,
                                   ddp_error *err) DDP_MUST_CHECK;

/* The step of the weights at path, as their state file says. 0: there are none; SIZE_MAX: no state
 * file can be read. */
size_t ddp_displaced_step(const char *path);

/* Are the weights at path no whole save of a run: of another program, put there by hand, or with a
 * damaged state? Reads them and their state file. */
int ddp_displaced_is_foreign(const char *path);

/* Do what the SAVE row (checkpoint/starts.def) of what lies at path says, before a run of base
 * saves there: name it path.old, or path.old.N, or leave it to be written over. is_own: this run
 * has saved there before, or goes on from it, so that only another cfg's weights are looked for.
 * step: what the run goes on from; SIZE_MAX: it began anew. Reads all of what is not its own. Fails
 * with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_displaced_keep(const char *path, const char *base, int is_own, size_t step,
                              ddp_error *err) DDP_MUST_CHECK;

/* Name the weights at path, which are there, path.old or path.old.N. why: "which ...", for the line
 * that says so. Fails as ddp_displaced_keep. */
ddp_status ddp_displaced_keep_old(const char *path, const char *why, ddp_error *err) DDP_MUST_CHECK;

/* Make room at path for the average of a run's weights, which has no state file: another cfg's
 * weights are kept, and a file that holds no weights. Fails as ddp_displaced_keep. */
ddp_status ddp_displaced_keep_before_average(const char *path, const char *base,
                                             ddp_error *err) DDP_MUST_CHECK;

/* If there are weights at path, *alike tells whether they are those of that save; else they are
 * named as ddp_displaced_keep does. Fails as that. */
ddp_status ddp_displaced_keep_unlike(const char *path, const ddp_checkpoint_metadata *metadata,
                                     int *alike, ddp_error *err) DDP_MUST_CHECK;

#endif
