/* timing/tracer.h: records into a trace (core/trace.h) when each layer computes its forward pass,
 * backward pass and update, and when each bucket travels. It also records waits of 20 us or more,
 * for example for a deferred update. On a GPU, events in its queues time layers and buckets.
 *
 * The tracer puts its own hooks before the trainer's (net->hooks, timing/hook_chain.h). Other code
 * records loads of samples (trainer/loader_trace.h), saves and validations (run/trace.h). Call both
 * functions between two steps, on every rank alike. */
#ifndef DDP_TIMING_TRACER_H
#define DDP_TIMING_TRACER_H

#include "base/status.h"
#include "comm/group.h"
#include "core/trace.h"
#include "glue/network.h"
#include "trainer/trainer.h"

typedef struct ddp_tracer ddp_tracer;

/* Begin to record the steps of net, to which t is attached. trace, group and t must outlive the
 * tracer; detach t before only by freeing net. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_tracer_begin(ddp_tracer **out, ddp_trace *trace, ddp_group *group, ddp_trainer *t,
                            network *net, ddp_error *err) DDP_MUST_CHECK;

/* Wait for the communication under way (ddp_trainer_flush), so that the last step is whole. Then
 * stop recording, and free t. NULL is allowed. */
void ddp_tracer_end(ddp_tracer *t);

#endif
