/* bench/trace.h: one step, drawn: what computes, and which bucket travels meanwhile. */
#ifndef DDP_BENCH_TRACE_H
#define DDP_BENCH_TRACE_H

#include "core/reducer.h"
#include "glue/step.h"

#include <stdio.h>

/* Write the last step that clock has run, and whose sums have ended, in the Trace Event Format that
 * chrome://tracing and Perfetto show: a row for what computes and rows for buckets, if there are
 * several ranks and they travel. Returns how many buckets' sums had ended when the step's last
 * backward pass ended: these were hidden whole. */
size_t ddp_bench_trace(FILE *out, const ddp_step_clock *clock, const ddp_reducer *reducer,
                       int travels);

#endif
