/* inputs/scan_gather.h: what ranks have found, put together on all of them. */
#ifndef DDP_INPUTS_SCAN_GATHER_H
#define DDP_INPUTS_SCAN_GATHER_H

#include "check/data.h"
#include "comm/group.h"

/* *f becomes the faults of all ranks, those of rank 0 first; *t and by_class[0..classes) become
 * the sums. Blocks until every rank has called it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_scan_gather(ddp_group *group, ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                           int classes, ddp_box_sample *sample, ddp_error *err) DDP_MUST_CHECK;

#endif
