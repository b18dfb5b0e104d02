/* state/saved_moments.h: the moments of a checkpoint, which rank 0 reads and sends to their ranks
 * block by block when the trainer is attached. Rank 0 never has all of them in memory. */
#ifndef DDP_STATE_SAVED_MOMENTS_H
#define DDP_STATE_SAVED_MOMENTS_H

#include "checkpoint/checkpoint.h"
#include "core/sharded.h"

typedef struct ddp_saved_moments ddp_saved_moments;

/* Open the moments of c, a checkpoint that was read: those of the table's parameters, parameter by
 * parameter. On success *out owns what c held, and *c is empty. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_saved_moments_open(ddp_saved_moments **out, ddp_checkpoint *c,
                                  const ddp_param_table *table, ddp_error *err) DDP_MUST_CHECK;

/* Free m, and close its file. NULL is allowed. */
void ddp_saved_moments_close(ddp_saved_moments *m);

/* Return a source that reads the moments, valid as long as m; NULL if m is NULL. Its reads fail as
 * ddp_checkpoint_get. */
const ddp_sharded_source *ddp_saved_moments_source(const ddp_saved_moments *m);

#endif
