/* state/saved_moments.h: moments of a checkpoint, which rank 0 reads and sends to their ranks block
 * by block when the run is attached. Rank 0 never has all of them in memory. */
#ifndef DDP_STATE_SAVED_MOMENTS_H
#define DDP_STATE_SAVED_MOMENTS_H

#include "checkpoint/checkpoint.h"
#include "core/sharded.h"

typedef struct ddp_saved_moments ddp_saved_moments;

/* Those of c, which was read, has the moments of these parameters, each one's behind each other,
 * and belongs to *out on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_saved_moments_open(ddp_saved_moments **out, ddp_checkpoint *c,
                                  const ddp_param_table *table, ddp_error *err) DDP_MUST_CHECK;
void ddp_saved_moments_close(ddp_saved_moments *m); /* NULL is allowed */

/* Lives as long as these; fails as ddp_checkpoint_get. NULL where m is. */
const ddp_sharded_source *ddp_saved_moments_first(const ddp_saved_moments *m);

#endif
