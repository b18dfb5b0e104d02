/* Sets how a group's sums travel: by direct.c or hierarchical.c (with DDP_SCHEDULE_AUTO as the cost
 * model of comm/schedule_cost.h says), and over how many channels. */
#include "comm/group_schedule.h"

#include "comm/backend.h"
#include "comm/chunk.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/schedule_cost.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>

/* Half of the files that a process may have open are left to the program and to MPI. */
static int most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY
        || limit.rlim_cur > 2 * (rlim_t)INT_MAX)
        return INT_MAX;
    return (int)(limit.rlim_cur / 2);
}

/* Rank 0's: limits differ from host to host. */
static ddp_status choose(ddp_group *g, int *hierarchical, ddp_error *err)
{
    *hierarchical = ddp_hierarchical_is_cheaper(&g->places, g->radix, most_connections());
    return ddp_broadcast(g, hierarchical, sizeof *hierarchical, 0, err);
}

static ddp_status use_hierarchical(ddp_group *g, int only, ddp_error *err)
{
    ddp_status st = ddp_chunk_pipeline_use(g, &ddp_allreduce_hierarchical, err);

    if (st == DDP_ERR_USAGE && !only)
        return ddp_chunk_pipeline_use(g, &ddp_allreduce_direct, err);
    if (!st)
        ddp_hierarchical_describe(&g->places, g->radix, " in shared memory", g->schedule,
                                  sizeof g->schedule);
    return st;
}

ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err)
{
    int only = wanted == DDP_SCHEDULE_HIERARCHICAL, hierarchical = only;
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || g->size == 1 || !g->transport)
        return st;
    if (wanted == DDP_SCHEDULE_AUTO)
        st = choose(g, &hierarchical, err);
    g->wants_hierarchical = hierarchical;
    if (!st)
        st = hierarchical ? use_hierarchical(g, only, err)
                          : ddp_chunk_pipeline_use(g, &ddp_allreduce_direct, err);
    return ddp_group_keep_failure(g, st, err);
}

const char *ddp_group_schedule(const ddp_group *g)
{
    return ddp_group_sums_on_host(g) ? g->schedule : g->gpu_ops->schedule(g);
}

int ddp_group_sums_on_host(const ddp_group *g)
{
    return strcmp(ddp_group_transport(g), g->ops->name) == 0;
}

ddp_traffic ddp_group_traffic(const ddp_group *g)
{
    return g->traffic;
}

/* ---- channels ---- */

ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (!st && (channels < 1 || channels > DDP_CHANNELS_MAX))
        st = ddp_fail(err, DDP_ERR_USAGE, "a group has 1 to %d channels, not %d", DDP_CHANNELS_MAX,
                      channels);
    if (st || channels == 1 || g->size == 1)
        return st;
    if (!g->transport || !g->transport->use_channels)
        return ddp_fail(err, DDP_ERR_USAGE, "%s has one channel", g->ops->name);
    st = ddp_group_keep_failure(g, g->transport->use_channels(g, channels, err), err);
    if (!st)
        g->channels = channels;
    return st;
}

int ddp_group_channels(const ddp_group *g)
{
    return g->channels;
}
