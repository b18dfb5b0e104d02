/* core/trace.h: what each rank did when, in one file on one clock, in the Trace Event Format that
 * Perfetto and chrome://tracing show: a process a rank, and lanes for what goes on side by side. */
#ifndef DDP_CORE_TRACE_H
#define DDP_CORE_TRACE_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>
#include <stdio.h>

typedef struct ddp_trace ddp_trace;

/* Lanes. Sums that travel at one time take turns in several, as loaders do. */
enum {
    DDP_LANE_STEPS,
    DDP_LANE_COMPUTE, /* passes and updates, a layer each */
    DDP_LANE_WAITS,   /* of the program, for messages and for samples */
    DDP_LANE_SAVES,   /* and validations */
    DDP_LANE_BUCKETS,
    DDP_LANE_BUCKETS_END = DDP_LANE_BUCKETS + 4,
    DDP_LANE_LOADERS = DDP_LANE_BUCKETS_END,
    DDP_LANES = DDP_LANE_LOADERS + 16
};

/* *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trace_open(ddp_trace **out, ddp_error *err) DDP_MUST_CHECK;
void ddp_trace_close(ddp_trace *t); /* NULL is allowed */

/* Something went on from begin_ns to end_ns of ddp_clock_ns. What is more than memory, or 200,000
 * of them, is counted and dropped. From any thread. t may be NULL. */
void ddp_trace_add(ddp_trace *t, int lane, int64_t begin_ns, int64_t end_ns, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* The same in a lane of loaders that is free then: the caller says when it begins, and gives the
 * lane back. -1: none is free. */
int ddp_trace_take_loader(ddp_trace *t);
void ddp_trace_give_loader(ddp_trace *t, int lane, int64_t begin_ns, const char *name);

/* Write all ranks' to out, on rank 0, where others pass NULL. Blocks until every rank is here.
 * Whether all could be written, ferror(out) tells. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_write(ddp_trace *t, ddp_group *group, FILE *out,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
