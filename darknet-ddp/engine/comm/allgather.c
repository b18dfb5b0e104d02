#include "comm/allgather.h"

#include "comm/allreduce.h"
#include "comm/backend.h"

ddp_status ddp_allgather_open(ddp_allreduce **out, ddp_group *g, ddp_device *d, float *all,
                              size_t count, ddp_error *err)
{
    const ddp_allreduce wanted = {.group = g,
                                  .device = d,
                                  .buf = all,
                                  .count = count * (size_t)g->size,
                                  .count_each = count,
                                  .wire = DDP_WIRE_FP32};

    return ddp_allreduce_prepare(out, &wanted, err);
}
