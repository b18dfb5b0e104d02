/* run/trace.h: traces steps A to B of a run (timing/tracer.h), and writes FILE, by -ddp_trace FILE
 * -ddp_trace_steps A:B. Without the latter these are steps 10 to 12 since the start. Call all
 * functions on every rank alike. */
#ifndef DDP_RUN_TRACE_H
#define DDP_RUN_TRACE_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/train_position.h"
#include "options/options.h"
#include "trainer/trainer.h"

/* Prepare to trace a run that has done start->step steps, if the options ask for it. Blocks until
 * every rank is here. Fails with DDP_ERR_MISMATCH (ranks are to trace other steps), DDP_ERR_NOMEM,
 * DDP_ERR_COMM, and on rank 0 with DDP_ERR_IO (the file cannot be written). */
ddp_status ddp_trace_run_open(const ddp_options *options, ddp_group *group, ddp_trainer *t,
                              const ddp_train_position *start, ddp_error *err) DDP_MUST_CHECK;

/* Begin or end the trace, if that is due after the step `now`, which has ended or is the run's
 * start. At its end, writes the file; if not all can be written, a line says so. Fails with
 * DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_run_step(network *net, const ddp_train_position *now,
                              ddp_error *err) DDP_MUST_CHECK;

/* Add to the trace a span from begin_ns (ddp_clock_ns) to now, named `what`: a save or a
 * validation. Does nothing if this step is not traced. */
void ddp_trace_run_add(int64_t begin_ns, const char *what);

/* End the trace, if one is under way, and write the file, because the run ends. If no step was
 * traced, a line says so. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_trace_run_close(ddp_error *err) DDP_MUST_CHECK;

#endif
