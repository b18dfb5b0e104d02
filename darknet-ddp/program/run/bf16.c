#include "run/bf16.h"

#include "comm/group_gpu.h"
#include "glue/bf16.h"

ddp_status ddp_bf16_run_check_device(const ddp_options *o, const ddp_group *group, ddp_error *err)
{
    if (!o->bf16 || !ddp_device_is_host(ddp_group_device(group)))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_bf16 1 works on GPUs: leave it out to compute on CPUs");
}

void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    ddp_bf16_layers count;

    if (!o->bf16)
        return;
    count = ddp_bf16_count(ddp_trainer_network(t));
    (void)fprintf(out,
                  "DDP: %d of %d layers compute in bf16; parameters, sums and losses are fp32\n",
                  count.in_bf16, count.all);
}
