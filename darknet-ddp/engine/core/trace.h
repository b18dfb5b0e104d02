/* core/trace.h: records what each rank does when, and writes the records of all ranks to one file,
 * on one clock. Perfetto and chrome://tracing show such a file (Trace Event Format). They show each
 * rank as a process, and each of its *lanes* as a thread. */
#ifndef DDP_CORE_TRACE_H
#define DDP_CORE_TRACE_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>
#include <stdio.h>

typedef struct ddp_trace ddp_trace;

/* The lanes of a rank: four named ones; four for buckets, whose sums travel side by side; sixteen
 * for threads that load samples. */
enum {
    DDP_LANE_STEPS,   /* whole steps */
    DDP_LANE_COMPUTE, /* passes and updates of single layers */
    DDP_LANE_WAITS,   /* waits for messages, and the time between two steps */
    DDP_LANE_SAVES,   /* saves and validations */
    DDP_LANE_BUCKETS,
    DDP_LANE_BUCKETS_END = DDP_LANE_BUCKETS + 4,
    DDP_LANE_LOADERS = DDP_LANE_BUCKETS_END,
    DDP_LANES = DDP_LANE_LOADERS + 16
};

/* Open an empty record of this rank. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trace_open(ddp_trace **out, ddp_error *err) DDP_MUST_CHECK;
void ddp_trace_close(ddp_trace *t); /* frees t; NULL is allowed */

/* Record in a lane something that lasted from begin_ns to end_ns of ddp_clock_ns; `format` makes
 * its name, cut at 79 bytes. Call from any thread. Does nothing if t is NULL, if t has 262,144
 * records, or if there is no memory. */
void ddp_trace_add(ddp_trace *t, int lane, int64_t begin_ns, int64_t end_ns, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* Return a free lane for a thread that begins to load samples; -1 if none is free. t is not NULL.
 * Call ddp_trace_end_load when the load has ended. Call from any thread. */
int ddp_trace_begin_load(ddp_trace *t);
/* Record a load called `name`, from begin_ns of ddp_clock_ns until now, in a lane of
 * ddp_trace_begin_load, and free the lane. Does nothing if lane is -1. Call from any thread. */
void ddp_trace_end_load(ddp_trace *t, int lane, int64_t begin_ns, const char *name);

/* Write the records of all ranks, on rank 0's clock, to `out`, a file that is open on rank 0; other
 * ranks pass NULL. t is not NULL. Every rank calls it; blocks. A failed write is no failure here:
 * ask ferror(out) and fclose(out). A rank without memory for its text is left out, without an
 * error. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_write(ddp_trace *t, ddp_group *group, FILE *out,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
