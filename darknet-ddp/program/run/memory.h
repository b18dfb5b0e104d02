/* run/memory.h: is there memory for the largest size that random= draws? Looked at before the first
 * step, since a run of many hours would else end when that size is drawn. */
#ifndef DDP_RUN_MEMORY_H
#define DDP_RUN_MEMORY_H

#include "base/status.h"

struct network;

/* Measure the memory of net at the largest size of its pictures, if training draws sizes. Call on
 * every rank when net is attached; no rank waits for another. Fails with DDP_ERR_USAGE if this rank
 * would take more than it may have; the text has the -subdivisions or the size that fit. */
ddp_status ddp_memory_check(struct network *net, ddp_error *err) DDP_MUST_CHECK;

/* Print a line with what ddp_memory_check has measured, if anything. */
void ddp_memory_print(void);

#endif
