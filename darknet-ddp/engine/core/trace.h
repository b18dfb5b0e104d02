/* core/trace.h: a record of what each rank did when, in one file on one clock, in the Trace Event
 * Format that Perfetto and chrome://tracing show. Each rank is a process there, with lanes for what
 * goes on side by side. */
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
    DDP_LANE_WAITS,   /* the program waits, for messages or for samples */
    DDP_LANE_SAVES,   /* saves and validations */
    DDP_LANE_BUCKETS,
    DDP_LANE_BUCKETS_END = DDP_LANE_BUCKETS + 4,
    DDP_LANE_LOADERS = DDP_LANE_BUCKETS_END,
    DDP_LANES = DDP_LANE_LOADERS + 16
};

/* *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trace_open(ddp_trace **out, ddp_error *err) DDP_MUST_CHECK;
void ddp_trace_close(ddp_trace *t); /* NULL is allowed */

/* Note what went on from begin_ns to end_ns of ddp_clock_ns. Beyond memory, or 200,000 notes, they
 * are only counted. From any thread. t may be NULL. */
void ddp_trace_add(ddp_trace *t, int lane, int64_t begin_ns, int64_t end_ns, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* Take a lane of loaders that is free, when a load begins; -1: none is free. Give it back, and note
 * the load, when it has ended. */
int ddp_trace_take_loader(ddp_trace *t);
void ddp_trace_give_loader(ddp_trace *t, int lane, int64_t begin_ns, const char *name);

/* Write the notes of all ranks to out, on rank 0; others pass NULL. Blocks until every rank is
 * here. ferror(out) tells whether all could be written. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_write(ddp_trace *t, ddp_group *group, FILE *out,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
