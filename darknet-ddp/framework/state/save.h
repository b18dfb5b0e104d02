/* state/save.h: saves a Darknet network to a pair of files (checkpoint/pair.h), without the copy in
 * memory that state/snapshot.h makes. Call on rank 0. With run->sharded, the other ranks must be in
 * ddp_sharded_serve_blocks; call ddp_sharded_ask_end after the save, unless it failed with
 * DDP_ERR_COMM. */
#ifndef DDP_STATE_SAVE_H
#define DDP_STATE_SAVE_H

#include "checkpoint/pair.h"
#include "state/checkpoint.h"

/* Save the weights of net's first `cutoff` layers at path, as Darknet does, and all else at path
 * with ".state" behind it. Call ddp_trainer_flush before. Sets run->saved_at_ns. Fails with
 * DDP_ERR_FORMAT (a number is not finite), DDP_ERR_USAGE (an updated layer's type is unknown,
 * or a name is too long), DDP_ERR_IO, DDP_ERR_NOMEM. Fails also as run->guard and, with
 * run->sharded, with DDP_ERR_COMM. */
ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err) DDP_MUST_CHECK;

/* Do the first half of ddp_checkpoint_save: write both files under temporary names. The second half
 * is ddp_pair_finish(*out), on any thread, also when net has changed since; *run->guard must stay
 * until then. *out is set, and run->saved_at_ns, on success. Fails as ddp_checkpoint_save, but
 * not as run->guard. */
ddp_status ddp_checkpoint_write_parts(ddp_pair_writing **out, network *net, const char *path,
                                      int cutoff, ddp_checkpoint_run *run,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
