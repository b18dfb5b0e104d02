/* state/compare_run.h: compares a pair of files with this run: cfg, options and seed. */
#ifndef DDP_STATE_COMPARE_RUN_H
#define DDP_STATE_COMPARE_RUN_H

#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Fail with DDP_ERR_MISMATCH if the pair is not of this run; the text names the first difference
 * and the pair. With run->force all differences are told to the listener instead. A difference in
 * rounding alone is only told to the listener, unless run->same_rounding is set. Fails also as
 * ddp_cfg_compare. */
ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                           const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

#endif
