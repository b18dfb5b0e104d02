/* inputs/scan_gather.h: puts together on all ranks what each of them has found (check/faults.h). */
#ifndef DDP_INPUTS_SCAN_GATHER_H
#define DDP_INPUTS_SCAN_GATHER_H

#include "check/data.h"
#include "comm/group.h"

/* Set *f to the faults of all ranks, those of rank 0 first, and *t, by_class[0..classes) and
 * *sample to the sums over ranks. Before the call, each argument holds what this rank has found.
 * Collective. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_scan_gather(ddp_group *group, ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                           int classes, ddp_box_sample *sample, ddp_error *err) DDP_MUST_CHECK;

#endif
