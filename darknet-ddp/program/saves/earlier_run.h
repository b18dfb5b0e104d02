/* saves/earlier_run.h: moves the files of an earlier run of the same name aside when a new run
 * begins, and back if the earlier one is resumed (checkpoint/set_aside.h). Keeps a finished run's
 * weights if it goes on. Prints what it did. On rank 0, which owns the name (saves/run_lock.h). */
#ifndef DDP_SAVES_EARLIER_RUN_H
#define DDP_SAVES_EARLIER_RUN_H

#include "base/status.h"
#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* If a run was killed while it moved an earlier run's files, aside or back, move them back to
 * `directory`, except pairs in whose places other files lie. Call before its files are read. Fails
 * with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_recover(const char *directory, const char *base,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Move the files of an earlier run aside, because a new run begins. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM.
 *   earlier        newest checkpoint of the earlier run, to print; if earlier->weights is NULL,
 *                  there is none
 *   first_weights  weights that the new run begins with, which also stay in their place; NULL: none
 */
ddp_status ddp_earlier_run_set_aside(const char *directory, const char *base,
                                     const ddp_pair_header *earlier, const char *first_weights,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Move the files that were set aside last back to directory, so that the run can resume from them.
 * Call if no weights are in directory; its other files of the run's name are set aside. *came
 * becomes 1 if files came back, else 0. The files of a finished run stay aside, unless run->force
 * is 1. Fails with DDP_ERR_USAGE (another run trains in their folder; waits up to 10 s to see it),
 * DDP_ERR_MISMATCH (cfg, options or seed differ), DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_bring_back(int *came, const char *directory,
                                      const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Give the last weights of a finished run a second name, because this run goes on from them and
 * will write over them. BASE_final.weights or BASE.weights is then BASE_final_<batches>.weights,
 * too, and their average (ema_alpha) BASE_ema_<batches>.weights. Does nothing if the weights have
 * no state file that fits. Other weights that have such a name already are renamed
 * (ddp_displaced_keep_old). Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_keep_final(const char *directory, const char *base,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
