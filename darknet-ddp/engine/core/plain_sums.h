/* core/plain_sums.h: sums of gradients themselves, in place: the plain run's (core/sums.h). */
#ifndef DDP_CORE_PLAIN_SUMS_H
#define DDP_CORE_PLAIN_SUMS_H

#include "comm/work.h"
#include "core/bucket_plan.h"
#include "core/sums.h"

/* What is summed at a time: a bucket, or a part of one that is too large to be waited for. */
typedef struct ddp_piece {
    size_t bucket;
    size_t offset, count; /* elements, the offset from the start of the plan's memory */
} ddp_piece;

typedef struct ddp_plain_of {
    ddp_group *group;
    ddp_device *device;
    const ddp_bucket_plan *plan;
    float *memory; /* the plan's, of device */
    size_t piece_count;
    const ddp_piece *pieces;
    ddp_wire wire;
    int halves; /* 1: start starts a sum's first half (comm/group.h, DDP_REDUCE_SCATTER), of
                   gradients without run counts */
} ddp_plain_of;

/* All that `of` points to must outlive it. *out is set on success. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_plain_sums_open(ddp_sums **out, const ddp_plain_of *of,
                               ddp_error *err) DDP_MUST_CHECK;

/* Of each piece, the sums'. */
ddp_work *const *ddp_plain_sums_all(const ddp_sums *s);

#endif
