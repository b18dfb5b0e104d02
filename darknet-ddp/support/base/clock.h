/* base/clock.h: time, in nanoseconds. */
#ifndef DDP_BASE_CLOCK_H
#define DDP_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic wall time since an arbitrary start. Safe from any thread. */
int64_t ddp_clock_ns(void);

/* The time of day, since 1970: it may be set at any moment, and hosts' may differ. */
int64_t ddp_clock_unix_ns(void);

/* For a wait that looks again within milliseconds: how long this process has not run since the last
 * look, stopped by Ctrl-Z say, if that is more than 2 s; else 0. *looked_ns is the last look, and
 * becomes this one. */
int64_t ddp_clock_stopped_ns(int64_t *looked_ns);

/* CPU time (user and system) that this process has used so far, all threads. */
int64_t ddp_clock_cpu_ns(void);

#endif
