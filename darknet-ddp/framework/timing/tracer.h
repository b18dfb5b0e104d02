/* timing/tracer.h: traces of some steps of training (core/trace.h). A trace has each layer's
 * forward and backward pass and update, what the program waits for meanwhile, and when each bucket
 * travelled. On a GPU, events in its work give these times.
 *
 * The tracer puts hooks of its own before the trainer's (net->hooks), notes moments, and calls the
 * trainer's. timing/hook_chain.h passes on the calls for which it has no hook. Loader threads call
 * the plugin's `loading` to say what they load. The step (run/step.c) says when it saves and
 * validates. The trace (core/trace.c) keeps the spans, and measures how other ranks' clocks differ
 * from rank 0's. It writes the spans of all ranks into one file, on rank 0's clock. run/trace.c
 * chooses the steps. Call ddp_tracer_begin and ddp_tracer_end between two steps, on every rank
 * alike. */
#ifndef DDP_TIMING_TRACER_H
#define DDP_TIMING_TRACER_H

#include "base/status.h"
#include "comm/group.h"
#include "core/trace.h"
#include "glue/network.h"
#include "trainer/trainer.h"

typedef struct ddp_tracer ddp_tracer;

/* Trace what net, to which t is attached, does from now on. trace, group and t must outlive the
 * tracer; net may be freed before. *out is NULL on failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_tracer_begin(ddp_tracer **out, ddp_trace *trace, ddp_group *group, ddp_trainer *t,
                            network *net, ddp_error *err) DDP_MUST_CHECK;

/* Stop tracing, after waiting for outstanding communication (ddp_trainer_flush), so that the last
 * step is whole. Frees t. NULL is allowed. */
void ddp_tracer_end(ddp_tracer *t);

#endif
