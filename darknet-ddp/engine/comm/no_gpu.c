/* A build for CPUs: no rank has a GPU. */
#include "nccl/gpu.h"

#include <stdlib.h>

ddp_status ddp_gpu_open(ddp_group *g, const ddp_gpu_config *config, ddp_error *err)
{
    (void)g;
    return ddp_fail(err, DDP_ERR_USAGE, "no GPU %d: this build is for CPUs", config->gpu);
}

/* What follows is called for a group with a GPU alone. */

void ddp_gpu_close(ddp_group *g)
{
    (void)g;
    abort();
}

ddp_device *ddp_gpu_device(const ddp_group *g)
{
    (void)g;
    abort();
}

const char *ddp_gpu_transport(const ddp_group *g)
{
    (void)g;
    abort();
}

const char *ddp_gpu_schedule(const ddp_group *g)
{
    (void)g;
    abort();
}

int ddp_gpu_has_shares(const ddp_group *g)
{
    (void)g;
    abort();
}

ddp_status ddp_gpu_share(const ddp_allreduce *a, ddp_range **ranges, size_t *count, ddp_error *err)
{
    (void)a, (void)ranges, (void)count, (void)err;
    abort();
}

ddp_status ddp_gpu_settle(ddp_group *g, ddp_error *err)
{
    (void)g, (void)err;
    abort();
}

int64_t ddp_gpu_stalled_ns(const ddp_group *g)
{
    (void)g;
    abort();
}

float *ddp_gpu_alloc(ddp_group *g, size_t count)
{
    (void)g, (void)count;
    abort();
}

void ddp_gpu_free(ddp_group *g, float *x)
{
    (void)g, (void)x;
    abort();
}

void ddp_gpu_abort(ddp_group *g)
{
    (void)g;
    abort();
}

ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err)
{
    (void)g, (void)err;
    abort();
}

const struct ddp_sum_engine *ddp_gpu_sums(const ddp_group *g)
{
    (void)g;
    abort();
}
