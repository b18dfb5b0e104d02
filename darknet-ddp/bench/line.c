#include "bench/line.h"

#include "base/clock.h"
#include "bench/tune.h"

#include <stdlib.h>

enum { TIMES = 5 };

/* Of several sums, the slowest rank's median. */
static ddp_status time_sums(double *seconds, ddp_group *g, float *buf, size_t count, ddp_error *err)
{
    double times[TIMES], *all = calloc((size_t)ddp_group_size(g), sizeof *all);
    ddp_allreduce *sum = NULL;
    ddp_status st = all ? ddp_allreduce_open(&sum, g, buf, count, err)
                        : ddp_fail(err, DDP_ERR_NOMEM, "no memory for times");

    for (int i = 0; i < TIMES && !st; i++) {
        int64_t start;

        st = ddp_barrier(g, err);
        start = ddp_clock_ns();
        if (!st)
            st = ddp_allreduce_start(sum, err);
        if (!st)
            st = ddp_allreduce_wait(sum, err);
        times[i] = (double)(ddp_clock_ns() - start) / 1e9;
    }
    *seconds = st ? 0 : ddp_tune_median(times, TIMES);
    if (!st)
        st = ddp_allgather(g, seconds, all, sizeof *seconds, err);
    for (int r = 0; r < ddp_group_size(g) && !st; r++)
        if (*seconds < all[r])
            *seconds = all[r];
    ddp_allreduce_close(sum);
    free(all);
    return st;
}

ddp_status ddp_line_measure(ddp_line *out, ddp_group *group, size_t bytes, ddp_error *err)
{
    size_t count = bytes / sizeof(float) + 1;
    float *buf;
    double seconds;
    ddp_status st;

    *out = (ddp_line){0};
    if (ddp_group_alloc_memory(group, ddp_device_host(), &buf, count, err))
        return err->code;
    st = time_sums(&out->latency_s, group, buf, 1, err);
    if (!st)
        st = time_sums(&seconds, group, buf, count, err);
    if (!st && seconds > out->latency_s)
        out->s_a_byte = (seconds - out->latency_s) / (double)(count * sizeof *buf);
    ddp_group_free_memory(group, ddp_device_host(), buf);
    return st;
}
