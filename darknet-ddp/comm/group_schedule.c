/* How sums of a group travel: which way (comm/chunk.h), chosen by the model of comm/schedule.h. */
#include "comm/backend.h"
#include "comm/chunk.h"
#include "comm/schedule.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Of the files that a process may have open, half are left to the program and to MPI. */
static int most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY
        || limit.rlim_cur > 2 * (rlim_t)INT_MAX)
        return INT_MAX;
    return (int)(limit.rlim_cur / 2);
}

/* Rank 0's: limits differ from host to host. */
static ddp_status choose(ddp_group *g, int *levels, ddp_error *err)
{
    *levels = ddp_levels_pay(&g->places, g->radix, most_connections());
    return ddp_broadcast(g, levels, sizeof *levels, 0, err);
}

static void describe_levels(ddp_group *g)
{
    int stages = ddp_levels_stages(g->places.count, g->radix), most = 0, least = g->size;
    char ranks[32];

    for (int h = 0; h < g->places.count; h++) {
        int n = g->places.first[h + 1] - g->places.first[h];

        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    (void)snprintf(ranks, sizeof ranks, most > least ? "%d to %d" : "%d", least, most);
    (void)snprintf(g->schedule, sizeof g->schedule, "%d level%s (%s rank%s a host in shared memory",
                   stages + 1, stages ? "s" : "", ranks, most > 1 ? "s" : "");
    if (stages)
        (void)snprintf(g->schedule + strlen(g->schedule), sizeof g->schedule - strlen(g->schedule),
                       ", then %d hosts%s", g->places.count, stages > 1 ? " in blocks" : "");
    (void)strcat(g->schedule, ")");
}

static ddp_status use_levels(ddp_group *g, int only, ddp_error *err)
{
    ddp_status st = ddp_exchange_use(g, &ddp_way_levels, err);

    if (st == DDP_ERR_USAGE && !only)
        return ddp_exchange_use(g, &ddp_way_direct, err);
    if (!st)
        describe_levels(g);
    return st;
}

ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err)
{
    int levels = wanted == DDP_SCHEDULE_LEVELS;
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || g->size == 1 || !g->transport)
        return st;
    if (wanted == DDP_SCHEDULE_AUTO)
        st = choose(g, &levels, err);
    if (!st)
        st = levels ? use_levels(g, wanted == DDP_SCHEDULE_LEVELS, err)
                    : ddp_exchange_use(g, &ddp_way_direct, err);
    return ddp_group_keep_failure(g, st, err);
}

const char *ddp_group_schedule(const ddp_group *g)
{
    return g->schedule;
}

int ddp_group_sums_on_host(const ddp_group *g)
{
    return strcmp(ddp_group_transport(g), g->ops->name) == 0;
}

ddp_traffic ddp_group_traffic(const ddp_group *g)
{
    return g->traffic;
}
