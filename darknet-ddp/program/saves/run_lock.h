/* saves/run_lock.h: this run's lock on the name that it saves under (checkpoint/name_lock.h). While
 * a run owns NAME in a folder, no other run saves NAME there. Call on rank 0; on other ranks
 * nothing is owned, and checks pass. A process has one run. */
#ifndef DDP_SAVES_RUN_LOCK_H
#define DDP_SAVES_RUN_LOCK_H

#include "base/status.h"

/* Own the name `base` in directory. Waits up to 10 s for another run that may have ended. If
 * another run later takes the name over, this run ends. If the lock's file cannot be written, read
 * or removed, a line says so, and nothing is owned. Fails with DDP_ERR_USAGE (another run owns it),
 * DDP_ERR_NOMEM.
 *   take_over  1: take the name from another run, without waiting (-ddp_take_over) */
ddp_status ddp_run_lock_take(const char *directory, const char *base, int take_over,
                             ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if another run owns the name `base` in directory. Does not take the name
 * for this run. Passes if the lock's file cannot be written, read or removed. Waits up to 10 s for
 * another run that may have ended. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_probe(const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO if another run has taken the name over. Passes if this run owns no name.
 * Call before anything is written. */
ddp_status ddp_run_lock_check(ddp_error *err) DDP_MUST_CHECK;

/* If somebody has removed the run's directory, make it and the lock file again, and print a line.
 * Returns 1 if it was made; 0 if it is there, or cannot be made. From any thread. */
int ddp_run_lock_restore(const char *directory);

/* Give the name up, because the run has ended. */
void ddp_run_lock_give_back(void);

#endif
