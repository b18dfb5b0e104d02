/* Functions of a group that depend on where its rank's gradients lie. On a GPU they call the
 * group's ddp_gpu_ops (comm/backend.h), else they use host memory. */
#include "comm/group_gpu.h"

#include "comm/backend.h"
#include "comm/chunk.h"
#include "comm/host_memory.h"

ddp_device *ddp_group_device(const ddp_group *g)
{
    return g->gpu ? g->gpu_ops->device(g) : ddp_device_host();
}

const char *ddp_group_transport(const ddp_group *g)
{
    return g->gpu ? g->gpu_ops->transport(g) : g->ops->name;
}

ddp_status ddp_group_synchronize(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || !g->gpu)
        return st;
    return ddp_group_keep_failure(g, g->gpu_ops->synchronize(g, err), err);
}

int64_t ddp_group_stalled_ns(const ddp_group *g)
{
    return g->gpu ? g->gpu_ops->stalled_ns(g) : 0;
}

/* In small sums a copy costs less than memory of their own. */
enum { LEAST_SHARED_BYTES = 256 * 1024 };

static ddp_status alloc_on_host(ddp_group *g, ddp_device *d, float **x, size_t count,
                                ddp_error *err)
{
    void *shared = NULL;

    if (g->algorithm == &ddp_allreduce_hierarchical && count * sizeof **x >= LEAST_SHARED_BYTES
        && ddp_host_memory_alloc(g, &shared, count * sizeof **x, err))
        return ddp_group_keep_failure(g, err->code, err);
    *x = shared;
    return shared ? DDP_OK : ddp_device_alloc(d, x, count, err);
}

ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err)
{
    if (ddp_device_is_host(d))
        return alloc_on_host(g, d, x, count, err);
    *x = g->gpu_ops->alloc(g, count);
    if (!*x)
        return ddp_fail(err, DDP_ERR_NOMEM, "no %zu MiB of memory on %s", count * sizeof **x >> 20,
                        ddp_device_name(d));
    return DDP_OK;
}

void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x)
{
    if (!x)
        return;
    ddp_group_abort_queued(g);
    if (!ddp_device_is_host(d))
        g->gpu_ops->free(g, x);
    else if (!ddp_host_memory_free(g, x))
        ddp_device_free(d, x);
}
