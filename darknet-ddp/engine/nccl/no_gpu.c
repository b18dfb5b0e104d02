/* For builds for CPUs, in place of gpu.c: ddp_group_use_gpu fails, so no rank gets a GPU. */
#include "comm/group_gpu.h"

ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config, ddp_error *err)
{
    (void)g;
    return ddp_fail(err, DDP_ERR_USAGE, "no GPU %d: this build is for CPUs", config->gpu);
}
