/* timing/timed_step.h: runs Darknet's training step and measures the time of its phases. The host's
 * clock measures them, or on a GPU events in its queue, which add no waits. */
#ifndef DDP_TIMING_TIMED_STEP_H
#define DDP_TIMING_TIMED_STEP_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "trainer/trainer.h"

typedef struct ddp_step_clock ddp_step_clock;

/* Times of a step, in seconds. */
typedef struct ddp_timed_step {
    double forward, backward, update; /* time of a phase, without its communication */
    double exposed; /* communication that did not run at the same time as other work */
    double step;    /* the whole step, from the end of earlier work to the end of its own */
} ddp_timed_step;

/* Open a clock for training steps of net, to which t is attached. A step is an update: sync_every
 * batches. group, t and net must outlive the clock. *out is set on success. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_step_clock_open(ddp_step_clock **out, ddp_group *group, ddp_trainer *t, network *net,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_step_clock_close(ddp_step_clock *c); /* frees c; NULL is allowed */

/* Train a step on the images in net->input and net->truth. On a GPU it may return before the work
 * is done, as training does. Fails with DDP_ERR_COMM.
 *
 *   alone  0: train with the trainer; every rank calls it. 1: train without it, on this rank's own
 *          gradients, so that ranks differ; call ddp_trainer_flush before */
ddp_status ddp_step_run(ddp_step_clock *c, int alone, ddp_error *err) DDP_MUST_CHECK;

/* Return the last step's events, which c owns, and set *mini_batches. In order: the step's start,
 * the ends of each mini-batch's forward and backward pass, the update's end, the step's end. */
ddp_device_event *const *ddp_step_events(const ddp_step_clock *c, int *mini_batches);

/* Wait for the end of the last step, and set *times. Call it before any other communication, which
 * would count as the step's. Fails with DDP_ERR_COMM. */
ddp_status ddp_step_read(ddp_step_clock *c, ddp_timed_step *times, ddp_error *err) DDP_MUST_CHECK;

#endif
