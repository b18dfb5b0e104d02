/* state/save.h: a Darknet network straight to a pair of files (checkpoint/pair.h), without a copy
 * in memory (state/snapshot.h). On rank 0, as state/checkpoint.h. */
#ifndef DDP_STATE_SAVE_H
#define DDP_STATE_SAVE_H

#include "checkpoint/pair.h"
#include "state/checkpoint.h"

/* Save weights of the first cutoff layers at path, as Darknet does, and all that they do not
 * hold at path.state. Fails as ddp_pair_save. */
ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err) DDP_MUST_CHECK;

/* The first half of that: *out is what ddp_pair_finish makes last, from any thread, with nothing
 * of net any more. run->saved_at_ns is set. Fails as ddp_pair_write, with DDP_ERR_FORMAT where a
 * number is not finite, and with DDP_ERR_COMM where run->sharded cannot be asked. */
ddp_status ddp_checkpoint_begin(ddp_pair_writing **out, network *net, const char *path, int cutoff,
                                ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
