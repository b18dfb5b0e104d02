/* comm/backoff.h: what a rank does between polls that find nothing: it spins at first, which finds
 * a message that is about to arrive soonest, and then sleeps. Where other ranks or their loader
 * threads want its core, every spin takes time from a thread that has work to do: the rank then
 * sleeps at once, and longer. A rank sees that its core is shared by how often the kernel
 * interrupts it. */
#ifndef DDP_COMM_BACKOFF_H
#define DDP_COMM_BACKOFF_H

#include <stdint.h>

/* All 0 at first. Of one thread. */
struct ddp_backoff {
    int idle_polls;         /* since something was found */
    int is_core_shared;     /* found at looked_ns */
    int64_t looked_ns;      /* when the rank last looked whether its core is shared */
    int64_t interrupted;    /* how often the kernel had interrupted it by then */
    int64_t polled_ns;      /* when the last poll of the wait ended */
    int64_t descheduled_ns; /* time between polls in which the rank cannot have run, of all waits */
};

/* Begin a wait. */
void ddp_backoff_begin(struct ddp_backoff *r);

/* Note that a poll has ended. A rank that had no core for long, or was stopped, did not wait
 * meanwhile: the others waited for it. */
void ddp_backoff_polled(struct ddp_backoff *r);

/* Note that a poll has found something. */
void ddp_backoff_reset(struct ddp_backoff *r);

/* After a poll that has found nothing: return at once, or nap. */
void ddp_backoff(struct ddp_backoff *r);

#endif
