/* state/compare_run.h: compares a checkpoint's cfg, options and seed with the run's. */
#ifndef DDP_STATE_COMPARE_RUN_H
#define DDP_STATE_COMPARE_RUN_H

#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Fail with DDP_ERR_MISMATCH if the pair's cfg, options or seed differ from the run's; the text
 * names the pair and the first difference. With run->force, tell the listener of all differences
 * instead. The listener is also told of options that only change rounding, unless
 * run->same_rounding makes them an error. Fails also as ddp_cfg_compare. */
ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                           const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

#endif
