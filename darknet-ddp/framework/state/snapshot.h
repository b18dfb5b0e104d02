/* state/snapshot.h: copies a checkpoint into memory, so that a thread can write it to files while
 * the network trains on. A snapshot takes about as much memory as the files, and keeps it for
 * the next copy. Call on rank 0, only if the network has all moments (run->sharded is NULL). */
#ifndef DDP_STATE_SNAPSHOT_H
#define DDP_STATE_SNAPSHOT_H

#include "state/checkpoint.h"

typedef struct ddp_snapshot ddp_snapshot;

/* Open an empty snapshot. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_snapshot_open(ddp_snapshot **out, ddp_error *err) DDP_MUST_CHECK;

/* Free the snapshot. NULL is allowed. */
void ddp_snapshot_close(ddp_snapshot *s);

/* Copy to s all that ddp_checkpoint_save would write now; cutoff: number of layers in the weights
 * file. Call ddp_trainer_flush before. net may change as soon as this returns. Do not call it while
 * another thread writes s. run->cfg and run->guard must outlive s. Fails as
 * ddp_checkpoint_of_network; s is then of no use until it is taken again. */
ddp_status ddp_snapshot_take(ddp_snapshot *s, network *net, int cutoff,
                             const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Set *same to 1 if s was taken with this `cutoff`, and net has not changed since, else to 0. Call
 * ddp_trainer_flush before. Another thread may be in ddp_snapshot_write. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_USAGE (an updated layer's type is unknown). */
ddp_status ddp_snapshot_matches(const ddp_snapshot *s, network *net, int cutoff,
                                const ddp_checkpoint_run *run, int *same,
                                ddp_error *err) DDP_MUST_CHECK;

/* Write the snapshot to the files at path and path.state, with a saved_at_ns that is later than the
 * last write's. Any thread may call it, one at a time. Fails as ddp_pair_save. */
ddp_status ddp_snapshot_write(ddp_snapshot *s, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Return the time of the last write, also of one that failed, for run->saved_at_ns. If there was no
 * write since ddp_snapshot_take, return the run->saved_at_ns that was given there. Do not call it
 * while another thread writes. */
uint64_t ddp_snapshot_saved_at_ns(const ddp_snapshot *s);

#endif
