#include "base/is_finite.h"
#include "comm/chunk_pipeline.h"
#include "comm/work.h"
#include "transport/backends.h"

/* The group of one rank: every sum and collective has already ended. Keeps a
 * run of one process, and most unit tests, free of MPI and NCCL. */

static ddp_status sum_nothing(ddp_work *w, ddp_error *err)
{
    (void)w, (void)err;
    return DDP_OK;
}

static void sum_close(ddp_work *w)
{
    (void)w;
}

/* Costs a pass over memory, which a sum of several ranks has in passing: who can see it elsewhere
 * does not ask. */
static int sum_finite(ddp_work *w)
{
    return ddp_all_finite(w->buf, w->count);
}

static int sum_in_flight(const ddp_work *w)
{
    (void)w;
    return 0;
}

static int sum_done(const ddp_work *w)
{
    (void)w;
    return 1;
}

static const struct ddp_sum_engine sums = {
    .open = sum_nothing,
    .close = sum_close,
    .start = sum_nothing,
    .in_flight = sum_in_flight,
    .done = sum_done,
    .fence_blocks = sum_in_flight,
    .fence = sum_nothing,
    .wait = sum_nothing,
    .finite = sum_finite,
    .share = ddp_chunk_pipeline_share,
};

static ddp_status solo_open(ddp_group *g, ddp_error *err)
{
    if (ddp_group_set_ranks(g, 0, 1, err)) {
        ddp_group_clear(g);
        return err->code;
    }
    g->host_sums = &sums;
    ddp_host_name(g->hosts[0]);
    ddp_group_set_places(g, &(int){0});
    return DDP_OK;
}

const struct ddp_backend ddp_backend_solo = {
    .name = "solo",
    .open = solo_open,
    .close = ddp_group_clear,
    .abort = ddp_group_exit,
};
