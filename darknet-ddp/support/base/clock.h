/* base/clock.h: time, in nanoseconds. */
#ifndef DDP_BASE_CLOCK_H
#define DDP_BASE_CLOCK_H

#include <stdint.h>

/* Return the time since an arbitrary start, by a clock that nobody sets. From any thread. */
int64_t ddp_clock_ns(void);

/* Return the time since 1970. The clock may be set at any moment, and differ between hosts. */
int64_t ddp_clock_unix_ns(void);

/* Return how long this process was stopped, by Ctrl-Z for example: the time since *looked_ns if
 * that is more than 2 s, else 0. Call every few milliseconds. Sets *looked_ns to ddp_clock_ns();
 * the caller does so before the first call. */
int64_t ddp_clock_stopped_ns(int64_t *looked_ns);

/* Return the CPU time (user and system) of all threads of this process so far. */
int64_t ddp_clock_cpu_ns(void);

#endif
