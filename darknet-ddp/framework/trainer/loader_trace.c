#include "trainer/loader_trace.h"

#include "base/clock.h"
#include "base/plural.h"

#include <stdatomic.h>
#include <stdio.h>

static ddp_trace *_Atomic traced; /* the trace that loader threads write to; NULL: none */

void ddp_loader_trace_use(ddp_trace *trace)
{
    atomic_store(&traced, trace);
}

void ddp_loader_trace_loading(int begins, int count)
{
    static _Thread_local struct {
        ddp_trace *trace;
        int64_t begin_ns;
        int lane;
    } own;
    char name[48];

    if (begins) {
        own.trace = atomic_load(&traced);
        own.begin_ns = ddp_clock_ns();
        own.lane = own.trace ? ddp_trace_begin_load(own.trace) : -1;
    } else if (own.trace) {
        (void)snprintf(name, sizeof name, "load %d picture%s", count, ddp_plural((size_t)count));
        ddp_trace_end_load(own.trace, own.lane, own.begin_ns, name);
        own.trace = NULL;
    }
}
