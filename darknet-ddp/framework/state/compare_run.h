/* state/compare_run.h: compares a checkpoint's cfg, options and seed with the run's. */
#ifndef DDP_STATE_COMPARE_RUN_H
#define DDP_STATE_COMPARE_RUN_H

#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Fail with DDP_ERR_MISMATCH if the pair's cfg, options or, with run->seed_given, seed differ from
 * the run's; the text names the pair and the first difference. With run->force, tell the listener
 * of differences instead. The listener is also told of options other than their default that the
 * pair does not know. It is told of differences that only change rounding, unless
 * run->same_rounding makes these an error. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                           const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

#endif
