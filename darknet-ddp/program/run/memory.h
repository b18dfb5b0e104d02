/* run/memory.h: checks before the first step that there is memory for the largest size of pictures
 * that random= draws. Else a run could end after hours, when that size is drawn. */
#ifndef DDP_RUN_MEMORY_H
#define DDP_RUN_MEMORY_H

#include "base/status.h"

struct network;

/* Check that there is memory for net's layers at the largest size of pictures, and allocate it, by
 * resizing net and back. Does nothing if random= is 0. Call when the trainer is attached to net.
 * Collective. Fails with DDP_ERR_USAGE if this rank may not have so much, and says what would fit.
 * Then end the job, since other ranks wait. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM.
 *   checkpoint_bytes  size of a checkpoint, for which rank 0 needs memory when it saves */
ddp_status ddp_memory_check(struct network *net, double checkpoint_bytes,
                            ddp_error *err) DDP_MUST_CHECK;

/* Print how much memory ddp_memory_check has measured, if it has measured any. */
void ddp_memory_print(void);

#endif
