/* run/watchdog.h: the watch over this process (watch/watch.h), as the options say, and what is
 * printed and written if a run hangs. */
#ifndef DDP_RUN_WATCHDOG_H
#define DDP_RUN_WATCHDOG_H

#include "base/status.h"
#include "comm/group.h"
#include "core/bucket_plan.h"
#include "options/options.h"
#include "watch/watch.h"

/* Begin to watch this process, which ends with status 1 if nothing moves for too long. Call before
 * anything that may hang, such as reading a file of the command line. Returns the watch, or the one
 * that is open already; NULL: the process cannot be watched, and a line says so. */
ddp_watch *ddp_watchdog_open(const ddp_options *options);

/* Watch all ranks of group, which must outlive the watch. Does nothing if this process is not
 * watched. Blocks until every rank is here. From then on SIGQUIT prints where each rank is. A rank
 * that cannot reach rank 0 says so, is not watched, and trains all the same. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_watchdog_join(ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* If the run fails, have the last events of all ranks written to NAME.events in directory, with the
 * cfg's NAME. `plan` names the layers of buckets there; it must stay valid until
 * ddp_watchdog_forget_plan. */
void ddp_watchdog_begin(const char *directory, const char *cfg, const ddp_bucket_plan *plan);

/* Have the watch name no layers of a bucket any more. Call before the plan of buckets is freed. */
void ddp_watchdog_forget_plan(void);

/* End the watch. Does nothing if there is none. */
void ddp_watchdog_close(void);

#endif
