/* timing/tracer.h: some steps of training, traced (core/trace.h): each layer's forward and backward
 * pass and update, what the program waits for meanwhile, and when each bucket travelled; on a GPU
 * in its own time, by events in its work.
 *
 * The tracer stands between Darknet's hooks and the trainer's. Begin, end and close are called
 * between two steps, on every rank alike.
 *
 * timing/tracer.c puts hooks of its own before the trainer's (net->hooks), notes moments, on a GPU
 * as events in its work, and calls the trainer's; what it has no hook of its own for
 * timing/hook_chain.h passes on, as for all that stand around a trainer's hooks. Loader threads say
 * by the plugin's loading what they load; run/step.c says when it saves and validates. core/trace.c
 * keeps the spans and writes all ranks' into one file, on rank 0's clock, from which core/trace.c
 * measures the others' offsets. run/trace.c decides when. Nothing of it runs in other steps.
 */
#ifndef DDP_TIMING_TRACER_H
#define DDP_TIMING_TRACER_H

#include "base/status.h"
#include "comm/group.h"
#include "core/trace.h"
#include "glue/network.h"
#include "trainer/trainer.h"

typedef struct ddp_tracer ddp_tracer;

/* From here on trace what net, to which t is attached, does. All must outlive the tracer. *out is
 * set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_tracer_begin(ddp_tracer **out, ddp_trace *trace, ddp_group *group, ddp_trainer *t,
                            network *net, ddp_error *err) DDP_MUST_CHECK;

/* No more of it. What still travels is brought in (ddp_trainer_flush), so that the last step is
 * whole. NULL is allowed. */
void ddp_tracer_end(ddp_tracer *t);

#endif
