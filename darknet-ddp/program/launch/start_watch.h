/* launch/start_watch.h: finds a start that does not come to its end: no rank begins, or ranks die
 * in MPI's start and their launcher waits for them for ever. */
#ifndef DDP_LAUNCH_START_WATCH_H
#define DDP_LAUNCH_START_WATCH_H

#include <stdint.h>

typedef struct ddp_start_watch {
    /* Most seconds from the launcher's start to the first rank's; 0: no limit. From then on, all
     * ranks have 10 s more than limit_s to meet, but at most 310 s. */
    double limit_s;
    int ranks_here;    /* how many ranks are to run on this host; 0: not known */
    int64_t began_ns;  /* when the launcher was started (ddp_clock_ns) */
    int64_t ran_ns;    /* when a rank was first seen to have begun; 0: none has */
    int64_t lacked_ns; /* when a rank of this host was first seen to be gone; 0: none is */
    int said;          /* 1: DDP_LAUNCH_IS_SLOW was returned already */
} ddp_start_watch;

/* The state of a start of ranks, for a sentence about it. */
typedef enum ddp_start_verdict {
    DDP_LAUNCH_GOES_ON,      /* nothing is to be said */
    DDP_LAUNCH_IS_SLOW,      /* no rank has begun for some seconds; returned one time only */
    DDP_LAUNCH_HAS_NO_RANK,  /* no rank has begun within the limit */
    DDP_LAUNCH_HAS_LOST,     /* a rank has ended before all had met, and the launcher waits */
    DDP_LAUNCH_DOES_NOT_MEET /* ranks have begun, and have not met within the limit */
} ddp_start_verdict;

/* Return the state of a start, as the processes below this one show it. begun: how many ranks have
 * said that they begin. Call about once a second until all ranks have met. */
ddp_start_verdict ddp_start_watch_look(ddp_start_watch *w, int begun);

#endif
