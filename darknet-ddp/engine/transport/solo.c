#include "base/is_finite.h"
#include "comm/allreduce.h"
#include "transport/backends.h"

/* The group of one rank: every sum and collective has already ended. Keeps a
 * run of one process, and most unit tests, free of MPI and NCCL. */

static ddp_status sum_nothing(ddp_allreduce *a, ddp_error *err)
{
    (void)a, (void)err;
    return DDP_OK;
}

static void sum_close(ddp_allreduce *a)
{
    (void)a;
}

/* Costs a pass over memory, which a sum of several ranks has in passing: who can see it elsewhere
 * does not ask. */
static int sum_finite(ddp_allreduce *a)
{
    return ddp_all_finite(a->buf, a->count);
}

static int sum_in_flight(const ddp_allreduce *a)
{
    (void)a;
    return 0;
}

static int sum_done(const ddp_allreduce *a)
{
    (void)a;
    return 1;
}

static const struct ddp_sum_engine sums = {
    .open = sum_nothing,
    .close = sum_close,
    .start = sum_nothing,
    .in_flight = sum_in_flight,
    .done = sum_done,
    .fence_waits = sum_in_flight,
    .fence = sum_nothing,
    .wait = sum_nothing,
    .finite = sum_finite,
};

static ddp_status solo_open(ddp_group **out, ddp_error *err)
{
    ddp_status st = ddp_group_alloc(out, sizeof **out, 0, 1, err);

    if (st)
        return st;
    (*out)->ops = &ddp_backend_solo;
    (*out)->host_sums = &sums;
    ddp_host_name((*out)->hosts[0]);
    ddp_group_set_places(*out, &(int){0});
    return DDP_OK;
}

static ddp_status solo_progress(ddp_group *g, ddp_error *err)
{
    (void)g, (void)err;
    return DDP_OK;
}

static ddp_status solo_broadcast(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err)
{
    (void)g, (void)buf, (void)bytes, (void)root, (void)err;
    return DDP_OK;
}

static ddp_status solo_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                                 ddp_error *err)
{
    (void)g, (void)mine, (void)all, (void)bytes, (void)err;
    return DDP_OK;
}

const struct ddp_backend ddp_backend_solo = {
    .name = "solo",
    .open = solo_open,
    .close = ddp_group_free,
    .abort = ddp_group_exit,
    .progress = solo_progress,
    .broadcast = solo_broadcast,
    .allgather = solo_allgather,
};
