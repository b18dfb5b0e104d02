/* Notices sums that have waited longer than the group's timeout, and makes the error, which names
 * the rank that is waited for. */
#include "base/clock.h"
#include "comm/chunk_pipeline_state.h"

#include <stdio.h>

ddp_status ddp_chunk_pipeline_overdue(const ddp_group *g, int peer, int taking, const char *where,
                                      ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_COMM, "%s rank %d (host %s) for %.9g s%s",
                    taking ? "no message was taken by" : "no message from", peer, g->hosts[peer],
                    (double)g->timeout_ns / 1e9, where);
}

ddp_status ddp_chunk_overdue(ddp_group *g, ddp_error *err)
{
    const struct ddp_chunk *oldest = NULL;
    const struct ddp_chunk_pipeline *p = g->pipeline;
    int peer = -1, taking = 0;
    char where[64];

    for (int i = 0; i < p->sizes.window; i++) {
        const struct ddp_chunk *c = ddp_chunk_in_flight(g, i);

        if (!c)
            continue;
        if (!oldest)
            oldest = c;
        if (peer < 0)
            peer = g->algorithm->behind(g, c);
    }
    if (peer < 0)
        peer = g->algorithm->waits_for(g, oldest, &taking);
    (void)snprintf(where, sizeof where, ", %s %d of %d", ddp_work_kind(oldest->sum->gathers),
                   oldest->sum->number, g->sums_opened);
    return ddp_chunk_pipeline_overdue(g, peer, taking, where, err);
}

int ddp_chunk_pipeline_is_late(const ddp_group *g, int64_t since_ns)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    int64_t stopped = ddp_clock_stopped_ns(&p->looked_ns), now = p->looked_ns;
    int64_t last = p->last_message_ns;

    if (last < since_ns)
        last = since_ns;
    if (last < p->began_ns)
        last = p->began_ns;
    if (stopped > 0) { /* no time to wait in; nor has anybody waited before the first look */
        last = last + stopped < now ? last + stopped : now;
        p->began_ns = last;
    }
    return g->timeout_ns > 0 && now - last > g->timeout_ns;
}

ddp_status ddp_chunk_pipeline_check_time(ddp_group *g, int64_t since_ns, ddp_error *err)
{
    return ddp_chunk_pipeline_is_late(g, since_ns) ? ddp_chunk_overdue(g, err) : DDP_OK;
}
