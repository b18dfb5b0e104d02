#include "algorithms/algorithm.h"

static int is_on(const ddp_options *o)
{
    return o->local_sgd > 0;
}

/* What is nothing without the option. */
static ddp_status check(const ddp_options *o, ddp_error *err)
{
    const char *alone = o->local_warmup >= 0 ? "-ddp_local_warmup" : "-ddp_slowmo";

    if (o->slowmo < 0 && o->slowmo_rate != 1)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_slowmo_rate is of -ddp_slowmo, and needs it");
    if (!o->local_sgd && (o->local_warmup >= 0 || o->slowmo >= 0))
        return ddp_fail(err, DDP_ERR_USAGE, "%s is of -ddp_local_sgd H, and needs it", alone);
    return DDP_OK;
}

const ddp_algorithm ddp_algorithm_local_sgd = {
    .name = "local_sgd",
    .example = "-ddp_local_sgd 2",
    .claims = {.decides = DDP_DECIDES_UPDATE | DDP_DECIDES_STEPS | DDP_DECIDES_STATISTICS,
               .breaks = DDP_PROMISE_EXACT | DDP_PROMISE_SUMS | DDP_PROMISE_PLAIN},
    .is_on = is_on,
    .check = check,
};
