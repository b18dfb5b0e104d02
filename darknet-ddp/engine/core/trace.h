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

/* Lanes of a rank. Sums that travel at one time are spread over four lanes. Up to sixteen threads
 * that load samples have one lane each. */
enum {
    DDP_LANE_STEPS,   /* whole steps */
    DDP_LANE_COMPUTE, /* passes and updates, a layer each */
    DDP_LANE_WAITS,   /* waits of the program, for messages or samples */
    DDP_LANE_SAVES,   /* saves and validations */
    DDP_LANE_BUCKETS,
    DDP_LANE_BUCKETS_END = DDP_LANE_BUCKETS + 4,
    DDP_LANE_LOADERS = DDP_LANE_BUCKETS_END,
    DDP_LANES = DDP_LANE_LOADERS + 16
};

/* Open an empty record of this rank. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trace_open(ddp_trace **out, ddp_error *err) DDP_MUST_CHECK;
void ddp_trace_close(ddp_trace *t); /* frees t; NULL is allowed */

/* Note in a lane what went on from begin_ns to end_ns of ddp_clock_ns; `format` makes its name, cut
 * at 79 bytes. Notes beyond 262,144, or for which there is no memory, are left out. From any
 * thread. t may be NULL: nothing happens. */
void ddp_trace_add(ddp_trace *t, int lane, int64_t begin_ns, int64_t end_ns, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* Take a free lane for a thread that begins to load samples; -1: none is free. From any thread. t
 * is not NULL. Give it back when the load has ended. */
int ddp_trace_take_loader(ddp_trace *t);
/* Give back a lane of ddp_trace_take_loader, and note in it a load, called `name`, from begin_ns of
 * ddp_clock_ns until now. From any thread. lane -1: nothing happens. */
void ddp_trace_give_loader(ddp_trace *t, int lane, int64_t begin_ns, const char *name);

/* Write the notes of all ranks, on rank 0's clock, to the open file `out` of rank 0; other ranks
 * pass NULL. t is not NULL. Every rank calls it; blocks. ferror(out) tells whether all was written.
 * A rank that has no memory for its text is left out without an error. Fails with DDP_ERR_COMM,
 * DDP_ERR_NOMEM. */
ddp_status ddp_trace_write(ddp_trace *t, ddp_group *group, FILE *out,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
