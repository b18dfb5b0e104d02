/* comm/backoff.h: what a rank does between polls that find nothing. It spins at first, since that
 * finds a message soonest, and then sleeps. Where other ranks or their loader threads want its
 * core, every spin takes time from a thread that has work to do: the rank then sleeps at once, and
 * longer. A rank sees that its core is shared by how often the kernel interrupts it. */
#ifndef DDP_COMM_BACKOFF_H
#define DDP_COMM_BACKOFF_H

#include <stdint.h>

/* State of the waits of one thread. All 0 at first. */
struct ddp_backoff {
    int idle_polls;      /* how many polls have found nothing since one found something */
    int is_core_shared;  /* 1: at looked_ns its core was shared with others */
    int64_t looked_ns;   /* ddp_clock_ns when the rank last looked whether its core is shared */
    int64_t interrupted; /* how often the kernel had interrupted this thread at looked_ns */
    int64_t polled_ns;   /* ddp_clock_ns when the last poll ended, or the wait began */
    /* nanoseconds of all long gaps between polls, in which the rank cannot have run */
    int64_t descheduled_ns;
};

/* Begin a wait, before its first poll. */
void ddp_backoff_begin(struct ddp_backoff *r);

/* Note that a poll has ended. If more than 20 ms have passed since the last poll or, before the
 * first, since ddp_backoff_begin, add that time to descheduled_ns: the rank had no core, or was
 * stopped.
 */
void ddp_backoff_polled(struct ddp_backoff *r);

/* Note that a poll has found something. */
void ddp_backoff_reset(struct ddp_backoff *r);

/* Call after a poll that has found nothing. Returns at once, or sleeps for 0.1 or 0.3 ms. */
void ddp_backoff(struct ddp_backoff *r);

#endif
