/* state/saved_moments.h: reads the optimizer moments of a checkpoint block by block, while rank 0
 * deals them out to ranks (core/sharded.h). So rank 0 never has all of them in memory. */
#ifndef DDP_STATE_SAVED_MOMENTS_H
#define DDP_STATE_SAVED_MOMENTS_H

#include "checkpoint/checkpoint.h"
#include "core/sharded.h"

typedef struct ddp_saved_moments ddp_saved_moments;

/* Open the moments of the table's parameters in checkpoint *c, which was read from a file and has
 * all of them. On success *out owns all of *c, which becomes empty. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_saved_moments_open(ddp_saved_moments **out, ddp_checkpoint *c,
                                  const ddp_param_table *table, ddp_error *err) DDP_MUST_CHECK;

/* Free m, and close its file. NULL is allowed. */
void ddp_saved_moments_close(ddp_saved_moments *m);

/* Return the source of the moments, owned by m, for ddp_trainer_set_resumed; NULL if m is NULL.
 * Its reads fail as ddp_checkpoint_get. */
const ddp_sharded_source *ddp_saved_moments_source(const ddp_saved_moments *m);

#endif
