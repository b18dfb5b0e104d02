/* state/snapshot.h: a checkpoint in memory, so that it can be written while the network trains on.
 * It takes as much memory as the two files have bytes, and keeps the memory for the next time it is
 * taken. Use it on rank 0, if run->sharded is NULL. */
#ifndef DDP_STATE_SNAPSHOT_H
#define DDP_STATE_SNAPSHOT_H

#include "state/checkpoint.h"

typedef struct ddp_snapshot ddp_snapshot;

/* Open an empty snapshot. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_snapshot_open(ddp_snapshot **out, ddp_error *err) DDP_MUST_CHECK;

/* Free the snapshot. NULL is allowed. */
void ddp_snapshot_close(ddp_snapshot *s);

/* Copy what ddp_checkpoint_save would write now; the network must be settled, and may change
 * afterwards. run->cfg and run->guard must outlive the snapshot. Fails with DDP_ERR_FORMAT (a
 * number is not finite: the text says which), DDP_ERR_NOMEM; the snapshot must then be taken again.
 */
ddp_status ddp_snapshot_take(ddp_snapshot *s, network *net, int cutoff,
                             const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Set *same to 1 if a snapshot of net's first `cutoff` layers would be the same now, else to 0. May
 * be called while another thread is in ddp_snapshot_write. Fails with DDP_ERR_USAGE (a layer of an
 * unknown type is updated), DDP_ERR_NOMEM. */
ddp_status ddp_snapshot_is_of(const ddp_snapshot *s, network *net, int cutoff,
                              const ddp_checkpoint_run *run, int *same,
                              ddp_error *err) DDP_MUST_CHECK;

/* Write the snapshot to the pair of files of path, with a later time than at its last write. From
 * any thread, one at a time. Fails as ddp_pair_save. */
ddp_status ddp_snapshot_write(ddp_snapshot *s, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Return the time of the last write. Before the first write, return the run->saved_at_ns with which
 * the snapshot was taken. */
uint64_t ddp_snapshot_saved_at_ns(const ddp_snapshot *s);

#endif
