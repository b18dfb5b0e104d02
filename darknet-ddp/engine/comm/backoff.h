/* comm/backoff.h: how a rank passes the time between polls that find nothing. At first it does not
 * pause, since that finds a message soonest. After 100 such polls it sleeps between polls. If other
 * threads want its core, it sleeps from the first poll on, and longer, so that they can run. */
#ifndef DDP_COMM_BACKOFF_H
#define DDP_COMM_BACKOFF_H

#include <stdint.h>

/* State of the waits of one thread. All 0 at first. */
struct ddp_backoff {
    int idle_polls;      /* idle polls since ddp_backoff_found, those on a shared core left out */
    int is_core_shared;  /* 1: at looked_ns other threads wanted this thread's core */
    int64_t looked_ns;   /* ddp_clock_ns when it was last found out who wants the core */
    int64_t interrupted; /* this thread's involuntary context switches up to looked_ns */
    int64_t polled_ns;   /* ddp_clock_ns when the last poll ended, or the wait began */
    int64_t descheduled_ns; /* total of the gaps between polls that ddp_backoff_polled added */
};

/* Begin a wait, before its first poll. Idle polls of earlier waits still count. */
void ddp_backoff_begin(struct ddp_backoff *r);

/* Call after each poll of a wait. If more than 20 ms have passed since the poll before it, or since
 * ddp_backoff_begin, adds that time to descheduled_ns: it is taken for time without a core. */
void ddp_backoff_polled(struct ddp_backoff *r);

/* Call after a poll that has found something. Polls that find nothing are counted anew then. */
void ddp_backoff_found(struct ddp_backoff *r);

/* Pause after a poll that has found nothing. Sleeps for 0.1 ms, for 0.3 ms if the core is shared,
 * or not at all for the first 100 such polls on a core of its own. */
void ddp_backoff_pause(struct ddp_backoff *r);

#endif
