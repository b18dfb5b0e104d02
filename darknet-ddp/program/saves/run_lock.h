/* saves/run_lock.h: this run's ownership of the name that it saves under (checkpoint/name_lock.h).
 * On rank 0; other ranks own nothing. One run a process.
 */
#ifndef DDP_SAVES_RUN_LOCK_H
#define DDP_SAVES_RUN_LOCK_H

#include "base/status.h"

/* Own base in directory, from another run if take_over. If no file can be written there, a line
 * says so and the run goes on without ownership. A run that later loses the name ends
 * (show/rank_output.h). Waits up to 10 s (ddp_name_lock_open). DDP_ERR_USAGE: another run owns it.
 * Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_take(const char *directory, const char *base, int take_over,
                             ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if another run owns base in directory. Waits as ddp_run_lock_take. Fails
 * also with DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_probe(const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_IO if another run has taken the name over. Call before anything is written. */
ddp_status ddp_run_lock_check(ddp_error *err) DDP_MUST_CHECK;

/* Make the run's directory again if it was removed, own the name in it, and print a line. Returns 1
 * if so, else 0. Any thread. */
int ddp_run_lock_restore(const char *directory);

/* Give the name up: the run has ended. */
void ddp_run_lock_give_back(void);

#endif
