/* run/trace.h: -ddp_trace FILE -ddp_trace_steps A:B: when a run traces its steps (timing/tracer.h),
 * and the file. Every rank calls all of it alike. */
#ifndef DDP_RUN_TRACE_H
#define DDP_RUN_TRACE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Prepare to trace a run that has done start->step steps, if the options ask for it. Blocks until
 * every rank is here. Fails with DDP_ERR_MISMATCH (ranks are to trace other steps), and on rank 0
 * with DDP_ERR_IO (the file cannot be written). */
ddp_status ddp_trace_run_open(const ddp_options *options, ddp_group *group, ddp_trainer *t,
                              const ddp_train_position *start, ddp_error *err) DDP_MUST_CHECK;

/* Begin or end to trace if that is due after the step `now`, which has ended or is the run's start.
 */
ddp_status ddp_trace_run_step(network *net, const ddp_train_position *now,
                              ddp_error *err) DDP_MUST_CHECK;

/* Add to the trace what has gone on since begin_ns, a save or a validation, named `what`. Does
 * nothing if this step is not traced. */
void ddp_trace_run_add(int64_t begin_ns, const char *what);

/* Write what was traced: the run ends. */
ddp_status ddp_trace_run_close(ddp_error *err) DDP_MUST_CHECK;

#endif
