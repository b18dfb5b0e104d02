/* timing/timed_step.h: Darknet's own training step with its phases timed: on the host by its clock,
 * on a GPU by events in its work. So timing adds no waits on a GPU. */
#ifndef DDP_TIMING_TIMED_STEP_H
#define DDP_TIMING_TIMED_STEP_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "trainer/trainer.h"

typedef struct ddp_step_clock ddp_step_clock;

/* Seconds of a step. forward, backward and update are without the communication in them. */
typedef struct ddp_timed_step {
    double forward, backward, update;
    double exposed; /* time of communication that nothing hid */
    double step;    /* the whole step, from the end of the work before it to its own end */
} ddp_timed_step;

/* Make a clock for steps, each of which makes one update. t is attached to net; group, t and net
 * must outlive the clock. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_step_clock_open(ddp_step_clock **out, ddp_group *group, ddp_trainer *t, network *net,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_step_clock_close(ddp_step_clock *c); /* frees c; NULL is allowed */

/* Train a step on what lies in the network's input and truth. With alone 0 the trainer trains it
 * (collective). With alone 1 Darknet trains it without the trainer: this rank updates with its own
 * gradients, so that ranks differ. No message may be under way then (ddp_trainer_flush). On a GPU
 * it may return before the last work is done, as training does. Fails with DDP_ERR_COMM. */
ddp_status ddp_step_run(ddp_step_clock *c, int alone, ddp_error *err) DDP_MUST_CHECK;

/* Return the events of the last step that was run; they belong to c. There are 2 * *mini_batches +
 * 3: the step's start, two for each mini-batch (the ends of its forward and backward pass), the
 * update's end, the step's end. */
ddp_device_event *const *ddp_step_events(const ddp_step_clock *c, int *mini_batches);

/* Wait for the last step that was run, and write its times. Fails with DDP_ERR_COMM. */
ddp_status ddp_step_read(ddp_step_clock *c, ddp_timed_step *times, ddp_error *err) DDP_MUST_CHECK;

#endif
