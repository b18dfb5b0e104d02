/* inputs/scan_gather.h: gives all ranks the faults and counts of training data that each rank has
 * found (inputs/scan_data.h). */
#ifndef DDP_INPUTS_SCAN_GATHER_H
#define DDP_INPUTS_SCAN_GATHER_H

#include "check/data.h"
#include "comm/group.h"

/* Replace this rank's faults *f by those of all ranks, rank 0's first. Replace this rank's *t and
 * by_class[0..classes) by the sums over all ranks, and *sample by a sample of all ranks' boxes.
 * f->lost stays this rank's. Collective. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_scan_gather(ddp_group *group, ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                           int classes, ddp_box_sample *sample, ddp_error *err) DDP_MUST_CHECK;

#endif
