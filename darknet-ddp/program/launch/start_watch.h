/* launch/start_watch.h: notices that a start of ranks by mpirun has failed although mpirun waits
 * for ever: no rank begins, some die in MPI's start, or not all meet. Set limit_s, ranks_here and
 * began_ns before the first call, and all else to zero. */
#ifndef DDP_LAUNCH_START_WATCH_H
#define DDP_LAUNCH_START_WATCH_H

#include <stdint.h>

typedef struct ddp_start_watch {
    /* seconds after the launcher's start in which the first rank must begin; 0: no limit */
    double limit_s;
    int ranks_here; /* number of the job's ranks on this host; 0: not known */
    /* when the launcher was started, and when a rank was first seen to have begun (0: none has), by
     * ddp_clock_ns. If the caller stops the ranks for a time, it adds that time to both */
    int64_t began_ns, ran_ns;
    int64_t lacked_ns; /* when a rank of this host was first seen to be gone; 0: none is */
    int said;          /* 1: DDP_LAUNCH_IS_SLOW was returned already */
} ddp_start_watch;

/* The state of a start of ranks. */
typedef enum ddp_start_verdict {
    DDP_LAUNCH_GOES_ON, /* the start goes on as it should */
    /* no rank has begun for 10 s, or for half of limit_s if that is less; returned only once */
    DDP_LAUNCH_IS_SLOW,
    DDP_LAUNCH_HAS_NO_RANK, /* failed: no rank has begun within the limit */
    /* failed: a rank of this host has been gone for 5 s; never with ranks_here 0 */
    DDP_LAUNCH_HAS_LOST,
    /* failed: limit_s + 10 s (at most 310 s) after the first rank began, not all have met; never
     * with limit_s 0 */
    DDP_LAUNCH_DOES_NOT_MEET
} ddp_start_verdict;

/* Return the state of a start. Call about once a second until all ranks have met. begun: number of
 * ranks that have sent DDP_NOTE_BEGINS. */
ddp_start_verdict ddp_start_watch_look(ddp_start_watch *w, int begun);

#endif
