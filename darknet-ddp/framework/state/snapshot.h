/* state/snapshot.h: a checkpoint in memory, so that it can be written while the network trains on.
 *
 * It takes as much memory as the two files have bytes, and keeps it for the next one.
 */
#ifndef DDP_STATE_SNAPSHOT_H
#define DDP_STATE_SNAPSHOT_H

#include "state/checkpoint.h"

typedef struct ddp_snapshot ddp_snapshot;

/* An empty one. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_snapshot_open(ddp_snapshot **out, ddp_error *err) DDP_MUST_CHECK;
void ddp_snapshot_close(ddp_snapshot *s); /* NULL is allowed */

/* Copy what ddp_checkpoint_save would write now. run->cfg must outlive the snapshot. The network
 * is settled. Fails with DDP_ERR_FORMAT (a number is not finite: the text says which),
 * DDP_ERR_NOMEM; what was in the snapshot is gone then, too. */
ddp_status ddp_snapshot_take(ddp_snapshot *s, network *net, int cutoff,
                             const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Would taking it now give the same? Reads what another thread that writes it only reads. */
ddp_status ddp_snapshot_is_of(const ddp_snapshot *s, network *net, int cutoff,
                              const ddp_checkpoint_run *run, int *same,
                              ddp_error *err) DDP_MUST_CHECK;

/* Write the pair of files, later than all that it was written to before. From one thread at a
 * time, any. Fails as ddp_pair_save. */
ddp_status ddp_snapshot_write(ddp_snapshot *s, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* When it was written last; before that, run->saved_at_ns when it was taken. */
uint64_t ddp_snapshot_saved_at_ns(const ddp_snapshot *s);

#endif
