#include "base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec now = {0};

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ddp_clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t ddp_clock_unix_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t ddp_clock_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t ddp_clock_stopped_ns(int64_t *looked_ns)
{
    static const int64_t leap_ns = 2000000000;
    int64_t now = ddp_clock_ns(), gap = now - *looked_ns;

    *looked_ns = now;
    return gap > leap_ns ? gap : 0;
}
