/* Opens a rank's GPU (ddp_group_use_gpu), for sums that travel by NCCL or through the host, as
 * config->nccl says. Fills ddp_gpu_ops, the functions by which a group calls its GPU. */
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "nccl/sum.h"

#include <stdlib.h>

static void gpu_close(ddp_group *g)
{
    if (g->gpu->transport.close)
        g->gpu->transport.close(g);
    ddp_cuda_close(g->gpu->cuda);
    free(g->gpu);
    g->gpu = NULL;
}

static void gpu_abort(ddp_group *g)
{
    if (g->gpu->transport.abort)
        g->gpu->transport.abort(g);
}

static ddp_device *gpu_device(const ddp_group *g)
{
    return &g->gpu->cuda->base;
}

static const char *gpu_transport(const ddp_group *g)
{
    return g->gpu->transport.name[0] ? g->gpu->transport.name : g->ops->name;
}

static const char *gpu_schedule(const ddp_group *g)
{
    return g->gpu->transport.schedule;
}

static int64_t gpu_stalled_ns(const ddp_group *g)
{
    return g->gpu->stalled_ns;
}

static float *gpu_alloc(ddp_group *g, size_t count)
{
    float *x;
    ddp_error ignored;

    if (g->gpu->transport.alloc)
        return g->gpu->transport.alloc(g, count);
    return ddp_device_alloc(&g->gpu->cuda->base, &x, count, &ignored) ? NULL : x;
}

static void gpu_free(ddp_group *g, float *x)
{
    if (g->gpu->transport.free)
        g->gpu->transport.free(g, x);
    else
        ddp_device_free(&g->gpu->cuda->base, x);
}

static const struct ddp_gpu_ops ops = {
    .close = gpu_close,
    .abort = gpu_abort,
    .device = gpu_device,
    .transport = gpu_transport,
    .schedule = gpu_schedule,
    .stalled_ns = gpu_stalled_ns,
    .progress = ddp_gpu_progress,
    .synchronize = ddp_gpu_synchronize,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .sums = &ddp_gpu_engine,
};

static ddp_status gpu_open(ddp_group *g, const ddp_gpu_config *config, ddp_error *err)
{
    ddp_status st = DDP_OK;

    g->gpu = calloc(1, sizeof *g->gpu);
    if (!g->gpu)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a GPU");
    g->gpu_ops = &ops;
    g->gpu->config = *config;
    st = ddp_cuda_open(&g->gpu->cuda, config->gpu, config->fail, err);
    if (!st && g->size > 1)
        st = config->nccl ? ddp_nccl_open(g, err) : ddp_staged_open(g, err);
    if (st) {
        ddp_cuda_close(g->gpu->cuda);
        free(g->gpu);
        g->gpu = NULL;
    }
    return st;
}

ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (!st)
        st = ddp_group_keep_failure(g, gpu_open(g, config, err), err);
    return st;
}
