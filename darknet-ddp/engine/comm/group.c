#include "comm/group.h"

#include "comm/backend.h"

#include <stdlib.h>

void ddp_group_close(ddp_group *g)
{
    if (!g)
        return;
    if (g->gpu)
        g->gpu_ops->close(g);
    g->ops->close(g);
    free(g);
}

void ddp_group_abort(ddp_group *g, int exit_status)
{
    g->ops->abort(g, exit_status ? exit_status : 1);
}

int ddp_group_rank(const ddp_group *g)
{
    return g->rank;
}

int ddp_group_size(const ddp_group *g)
{
    return g->size;
}

int ddp_group_local_rank(const ddp_group *g)
{
    return g->local_rank;
}

int ddp_group_local_size(const ddp_group *g)
{
    return g->local_size;
}

const char *ddp_group_host(const ddp_group *g, int rank)
{
    return g->hosts[rank];
}

void ddp_group_set_timeout(ddp_group *g, int64_t timeout_ns)
{
    g->timeout_ns = timeout_ns;
}

void ddp_group_on_progress(ddp_group *g, void (*moved)(void *ctx), void *ctx)
{
    g->moved_ctx = ctx;
    g->moved = moved;
}
