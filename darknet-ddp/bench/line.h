/* bench/line.h: what sums over ranks take, with nothing else going on. */
#ifndef DDP_BENCH_LINE_H
#define DDP_BENCH_LINE_H

#include "base/status.h"
#include "comm/group.h"

typedef struct ddp_line {
    double s_a_byte;  /* of a sum of many, until all ranks have it */
    double latency_s; /* of a sum of one number */
} ddp_line;

/* The median of a few sums of so many bytes of host memory, and of one number, as the slowest rank
 * saw them; the same on every rank. Between two steps, on every rank. Fails with DDP_ERR_COMM,
 * DDP_ERR_NOMEM. */
ddp_status ddp_line_measure(ddp_line *out, ddp_group *group, size_t bytes,
                            ddp_error *err) DDP_MUST_CHECK;

#endif
