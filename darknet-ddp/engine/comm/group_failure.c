/* Keeps a group's first failure. Later failures are consequences of it, and would hide the cause.
 */
#include "comm/backend.h"

ddp_status ddp_group_check_alive(const ddp_group *g, ddp_error *err)
{
    if (g->failure.code)
        return ddp_fail(err, DDP_ERR_COMM, "the group failed earlier: %s", g->failure.text);
    return DDP_OK;
}

ddp_status ddp_group_keep_failure(ddp_group *g, ddp_status st, const ddp_error *err)
{
    if (st == DDP_ERR_COMM && !g->failure.code)
        g->failure = *err;
    return st;
}

void ddp_group_abort_queued(ddp_group *g)
{
    if (g->gpu && g->failure.code)
        g->gpu_ops->abort(g);
}
