/* run/watchdog.h: the watch over this process (watch/watch.h), as the options say, and what is
 * printed and written where a run does not go on.
 */
#ifndef DDP_RUN_WATCHDOG_H
#define DDP_RUN_WATCHDOG_H

#include "base/status.h"
#include "comm/group.h"
#include "core/bucket_plan.h"
#include "options/options.h"
#include "watch/watch.h"

/* Begin to watch, before anything that may hang, such as a file of the command line; the launcher's
 * rank is not known to it yet. The process ends with status 1 where nothing moves for too long.
 * Where a watch is open, that one. NULL: it cannot be watched, which is said. */
ddp_watch *ddp_watchdog_open(const ddp_options *options);

/* From here on with all ranks of group, which must outlive the watch. Blocks until every rank is
 * here. A rank that cannot reach rank 0 says so and is not watched; it trains all the same. */
ddp_status ddp_watchdog_join(ddp_group *group, ddp_error *err) DDP_MUST_CHECK;

/* Where the last events of all ranks go if the run fails, and whose buckets these are. plan is
 * used until ddp_watchdog_forget_plan. */
void ddp_watchdog_begin(const char *directory, const char *cfg, const ddp_bucket_plan *plan);

/* Before the plan is released; what the watch prints from here on names no layers of a bucket. */
void ddp_watchdog_forget_plan(void);

void ddp_watchdog_close(void);

#endif
