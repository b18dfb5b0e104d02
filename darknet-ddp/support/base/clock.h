/* base/clock.h: time, in nanoseconds. */
#ifndef DDP_BASE_CLOCK_H
#define DDP_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic wall time since an arbitrary start. Safe from any thread. */
int64_t ddp_clock_ns(void);

/* The time of day, since 1970: it may be set at any moment, and hosts' may differ. */
int64_t ddp_clock_unix_ns(void);

/* CPU time (user and system) that this process has used so far, all threads. */
int64_t ddp_clock_cpu_ns(void);

#endif
