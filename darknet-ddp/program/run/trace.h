/* run/trace.h: records what each rank does in a few steps (timing/tracer.h), and writes a trace
 * file to look at: -ddp_trace FILE. The steps are those of -ddp_trace_steps A:B, or 10 to 12 since
 * the start. Call all functions on every rank. */
#ifndef DDP_RUN_TRACE_H
#define DDP_RUN_TRACE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Open the trace file on rank 0, if the options ask for a trace. start: position at which the run
 * begins. Collective. options' strings, group and t must stay until ddp_trace_run_close. Fails with
 * DDP_ERR_MISMATCH (other steps on a rank), DDP_ERR_NOMEM, DDP_ERR_COMM, on rank 0 DDP_ERR_IO. */
ddp_status ddp_trace_run_open(const ddp_options *options, ddp_group *group, ddp_trainer *t,
                              const ddp_train_position *start, ddp_error *err) DDP_MUST_CHECK;

/* Begin the trace if the next step is its first or, when the run begins, any of its steps.
 * If step `now` was its last, end it and write the file; if that cannot be written, a line says so.
 * Call before the first step and after each step. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_run_step(network *net, const ddp_train_position *now,
                              ddp_error *err) DDP_MUST_CHECK;

/* Add a save or a validation, which began at begin_ns (ddp_clock_ns) and ends now, to the trace
 * under the name `what`. Does nothing if this step is not traced. */
void ddp_trace_run_add(int64_t begin_ns, const char *what);

/* End the trace, if it has begun and not ended, and write the file. If that cannot be written, or
 * no step was traced, a line says so. Call when the run ends. Fails with DDP_ERR_COMM,
 * DDP_ERR_NOMEM. */
ddp_status ddp_trace_run_close(ddp_error *err) DDP_MUST_CHECK;

#endif
