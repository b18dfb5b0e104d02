/* state/compare_run.h: is a pair of files of this run: the same cfg, options and seed? */
#ifndef DDP_STATE_COMPARE_RUN_H
#define DDP_STATE_COMPARE_RUN_H

#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* DDP_ERR_MISMATCH names the first difference, and the pair. With run->force each is told to the
 * listener instead, as other rounding is unless run->same_rounding. Fails also as ddp_cfg_compare.
 */
ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                           const ddp_pair_listener *listener, ddp_error *err) DDP_MUST_CHECK;

#endif
