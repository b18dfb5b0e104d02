/* saves/run_lock.h: this run owns the name that it saves under (checkpoint/name_lock.h), as the
 * options say. On rank 0; the others own nothing. One run a process.
 */
#ifndef DDP_SAVES_RUN_LOCK_H
#define DDP_SAVES_RUN_LOCK_H

#include "base/status.h"

/* Own base in directory. Where no file can be written there, that is said, and the run goes on. A
 * run that loses the name to another run later ends (show/rank_output.h). DDP_ERR_USAGE: another
 * run owns it. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_run_lock_take(const char *directory, const char *base, int take_over,
                             ddp_error *err) DDP_MUST_CHECK;

/* Does no other run own base in directory? DDP_ERR_USAGE: one does. */
ddp_status ddp_run_lock_probe(const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

/* Before something is written: DDP_ERR_IO where another run has taken over. */
ddp_status ddp_run_lock_check(ddp_error *err) DDP_MUST_CHECK;

/* Returns 1 where the run's directory had been removed: it is made again, which is said, and the
 * run owns the name in it as before. */
int ddp_run_lock_restore(const char *directory);

/* The run has ended. */
void ddp_run_lock_give_back(void);

#endif
