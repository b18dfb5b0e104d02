/* state/compare_run.h: compares a checkpoint's cfg, options and seed with the run's. */
#ifndef DDP_STATE_COMPARE_RUN_H
#define DDP_STATE_COMPARE_RUN_H

#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Fail with DDP_ERR_MISMATCH if the pair's cfg or options differ from the run's, or with
 * run->seed_given its seed; the text names the pair and the first difference. With run->force, tell
 * the listener of differences instead. It is also told of options that are not at their default and
 * that the pair lacks. Unless run->same_rounding is 1, differences that only change rounding are no
 * error, and it is told of them. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                           const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

#endif
