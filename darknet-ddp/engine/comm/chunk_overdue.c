/* Notices that a group waits although nothing has moved for the group's timeout, and makes the
 * error, which names the rank that is waited for. */
#include "base/clock.h"
#include "comm/chunk_pipeline_state.h"

#include <stdio.h>

ddp_status ddp_fail_late_rank(const ddp_group *g, int rank, int has_to_take, const char *where,
                              ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_COMM, "%s rank %d (host %s) for %.9g s%s",
                    has_to_take ? "no message was taken by" : "no message from", rank,
                    g->hosts[rank], (double)g->timeout_ns / 1e9, where);
}

ddp_status ddp_fail_late_chunks(ddp_group *g, ddp_error *err)
{
    const struct ddp_chunk *oldest = NULL;
    const struct ddp_chunk_pipeline *p = g->pipeline;
    struct ddp_late_rank late = {.rank = -1};
    char where[64];

    for (int i = 0; i < p->sizes.window && !late.is_cause; i++) {
        const struct ddp_chunk *c = ddp_chunk_in_flight(g, i);
        struct ddp_late_rank rank;

        if (!c)
            continue;
        rank = g->algorithm->late_rank(g, c);
        if (!oldest || rank.is_cause)
            late = rank;
        if (!oldest)
            oldest = c;
    }
    (void)snprintf(where, sizeof where, ", %s %d of %d", ddp_work_kind(oldest->sum->gathers),
                   oldest->sum->work->number, g->last_number);
    return ddp_fail_late_rank(g, late.rank, late.has_to_take, where, err);
}

int ddp_chunk_pipeline_is_late(const ddp_group *g, int64_t since_ns)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    int64_t stopped = ddp_clock_stopped_ns(&p->looked_ns), now = p->looked_ns;
    int64_t last = p->last_message_ns;

    if (last < since_ns)
        last = since_ns;
    if (last < p->timeout_from_ns)
        last = p->timeout_from_ns;
    if (stopped > 0) { /* no time to wait in; nor has anybody waited before the first look */
        last = last + stopped < now ? last + stopped : now;
        p->timeout_from_ns = last;
    }
    return g->timeout_ns > 0 && now - last > g->timeout_ns;
}

ddp_status ddp_chunk_pipeline_check_time(ddp_group *g, int64_t since_ns, ddp_error *err)
{
    return ddp_chunk_pipeline_is_late(g, since_ns) ? ddp_fail_late_chunks(g, err) : DDP_OK;
}
