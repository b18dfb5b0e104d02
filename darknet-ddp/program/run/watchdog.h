/* run/watchdog.h: watches this process (watch/watch.h). If the run hangs, prints where each rank
 * stands, writes each one's last events to a file if training has begun, and ends the process. */
#ifndef DDP_RUN_WATCHDOG_H
#define DDP_RUN_WATCHDOG_H

#include "base/status.h"
#include "comm/group.h"
#include "core/bucket_plan.h"
#include "options/options.h"
#include "watch/watch.h"

/* Begin to watch this process, if it is not watched yet. If it makes no progress for as long as the
 * options say, it ends with status 1. Call before anything that may hang, such as reading a file.
 * Returns the watch; NULL: the process cannot be watched, and a line says so. */
ddp_watch *ddp_watchdog_open(const ddp_options *options);

/* Have rank 0 watch all ranks of the group, too. From then on SIGQUIT prints where each rank is. If
 * a rank cannot reach rank 0, it prints a line, and rank 0 does not watch it. A rank whose watch
 * could not be opened takes part all the same. Collective. group must outlive the watch. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_watchdog_join(ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* Set where the last events of all ranks are written if the run fails: to NAME.events in
 * `directory`, NAME being the cfg's. Call when training begins.
 *   plan  the buckets, by which messages name layers; valid until ddp_watchdog_forget_plan */
void ddp_watchdog_begin(const char *directory, const char *cfg, const ddp_bucket_plan *plan);

/* Forget the plan given to ddp_watchdog_begin. Call before the plan is freed. */
void ddp_watchdog_forget_plan(void);

/* End the watch; other ranks are told that this rank leaves without an error. Does nothing if there
 * is none. Does not return if rank 0 has ended the run. */
void ddp_watchdog_close(void);

#endif
