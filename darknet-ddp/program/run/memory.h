/* run/memory.h: is there memory for the largest size that random= draws? Looked at before the first
 * step, since a run of many hours would else end when that size is drawn. */
#ifndef DDP_RUN_MEMORY_H
#define DDP_RUN_MEMORY_H

#include "base/status.h"

struct network;

/* If training draws sizes of net's pictures, measure net's memory at the largest one, and take it.
 * Then no later step takes more for layers. saved: bytes of a checkpoint, which rank 0 copies when
 * it saves. Call on every rank when net is attached; blocks. Fails with DDP_ERR_USAGE if this rank
 * would take more than it may have; the text says what fits. Fails also as ddp_barrier. */
ddp_status ddp_memory_check(struct network *net, double saved, ddp_error *err) DDP_MUST_CHECK;

/* Print a line with what ddp_memory_check has measured, if anything. */
void ddp_memory_print(void);

#endif
