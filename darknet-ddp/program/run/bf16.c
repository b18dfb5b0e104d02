#include "run/bf16.h"

#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "glue/bf16.h"

static int auto_has_chosen_float32;

ddp_status ddp_bf16_run_decide(int *out, const ddp_options *o, ddp_group *group, ddp_error *err)
{
    int on_host;
    const char *missing;
    ddp_status st = DDP_OK;

    *out = o->bf16 == DDP_BF16_YES;
    if (o->bf16 == DDP_BF16_NO)
        return DDP_OK;
    on_host = ddp_device_is_host(ddp_group_device(group));
    missing = ddp_bf16_missing(on_host);
    if (o->bf16 == DDP_BF16_AUTO) {
        *out = ddp_bf16_is_faster(on_host);
        st = ddp_holds_on_all(group, out, err);
    } else if (missing)
        st = ddp_fail(err, DDP_ERR_USAGE,
                      "-ddp_bf16 1 needs %s; leave it out to compute in float32", missing);
    auto_has_chosen_float32 = o->bf16 == DDP_BF16_AUTO && !*out;
    return st;
}

void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t)
{
    int count, all;

    if (auto_has_chosen_float32)
        (void)fprintf(out, "DDP: float32, for bf16 would not be faster on every rank\n");
    if (o->bf16 == DDP_BF16_NO)
        return;
    count = ddp_bf16_count(ddp_trainer_network(t), &all);
    (void)fprintf(out,
                  "DDP: %d of %d layers compute in bf16 (%s); parameters, sums and losses are "
                  "fp32\n",
                  count, all, ddp_bf16_name());
}
