/* run/trace.h: -ddp_trace FILE -ddp_trace_steps A:B: when a run traces its steps (timing/tracer.h),
 * and the file. Every rank calls all of it alike. */
#ifndef DDP_RUN_TRACE_H
#define DDP_RUN_TRACE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* The run has done start->step steps. Ranks compare what they are to trace. Fails with
 * DDP_ERR_MISMATCH, DDP_ERR_IO on rank 0 where the file cannot be written. */
ddp_status ddp_trace_run_open(const ddp_options *options, ddp_group *group, ddp_trainer *t,
                              const ddp_train_position *start, ddp_error *err) DDP_MUST_CHECK;

/* now: of a step that has ended, or of the run's start: begin or end what is due. */
ddp_status ddp_trace_run_step(network *net, const ddp_train_position *now,
                              ddp_error *err) DDP_MUST_CHECK;

/* Something of a step, a save or a validation, has gone on since begin_ns. Nothing happens where
 * nothing is traced. */
void ddp_trace_run_add(int64_t begin_ns, const char *what);

/* The run ends: what was traced is written. */
ddp_status ddp_trace_run_close(ddp_error *err) DDP_MUST_CHECK;

#endif
