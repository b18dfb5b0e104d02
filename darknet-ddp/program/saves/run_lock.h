/* saves/run_lock.h: this run's lock on the name that it saves under (checkpoint/name_lock.h): a run
 * owns NAME in a folder, so that no other saves there meanwhile. Call on rank 0; other ranks own
 * nothing. A process has one run. */
#ifndef DDP_SAVES_RUN_LOCK_H
#define DDP_SAVES_RUN_LOCK_H

#include "base/status.h"

/* Own the name base in directory; take_over: 1 takes it from another run. If no file can be written
 * there, a line says so and the run goes on without ownership. A run that later loses the name ends
 * (show/rank_output.h). Waits up to 10 s (ddp_name_lock_open). Fails with DDP_ERR_USAGE (another
 * run owns it), DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_take(const char *directory, const char *base, int take_over,
                             ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if another run owns the name base in directory; own nothing. Passes where
 * no file can be written. Waits as ddp_run_lock_take. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_probe(const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO if another run has taken the name over; DDP_OK if this run owns none. Call
 * before anything is written. */
ddp_status ddp_run_lock_check(ddp_error *err) DDP_MUST_CHECK;

/* If the run's directory was removed, make it again, empty, own the name in it, print a line, and
 * return 1. Return 0 if it is there, or cannot be made. From any thread. */
int ddp_run_lock_restore(const char *directory);

/* Give the name up: the run has ended. */
void ddp_run_lock_give_back(void);

#endif
