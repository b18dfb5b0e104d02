/* state/save.h: saves a Darknet network straight to a pair of files (checkpoint/pair.h), without a
 * copy in memory (state/snapshot.h). On rank 0, as state/checkpoint.h. */
#ifndef DDP_STATE_SAVE_H
#define DDP_STATE_SAVE_H

#include "checkpoint/pair.h"
#include "state/checkpoint.h"

/* Save the weights of net's first cutoff layers at path, as Darknet does, and at path.state all
 * that the weights file does not hold. Sets run->saved_at_ns. Fails as ddp_checkpoint_begin and
 * ddp_pair_finish. */
ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err) DDP_MUST_CHECK;

/* Write the parts of the pair: the first half of ddp_checkpoint_save. Call ddp_pair_finish(*out)
 * then, on any thread; net may have changed. Sets run->saved_at_ns. Fails as ddp_pair_write, with
 * DDP_ERR_FORMAT (a number is not finite), and DDP_ERR_COMM (run->sharded cannot be asked). */
ddp_status ddp_checkpoint_begin(ddp_pair_writing **out, network *net, const char *path, int cutoff,
                                ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
