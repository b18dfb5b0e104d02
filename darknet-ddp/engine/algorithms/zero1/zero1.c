#include "algorithms/algorithm.h"

static int is_on(const ddp_options *o)
{
    return o->shard_optimizer;
}

const ddp_algorithm ddp_algorithm_zero1 = {
    .name = "zero1",
    .example = "-ddp_shard_optimizer 1",
    .claims = {.decides = DDP_DECIDES_SUM | DDP_DECIDES_UPDATE | DDP_DECIDES_ORDER,
               .breaks = DDP_PROMISE_DROP}, /* a rank knows of others' shares once they came */
    .sums = "what is shared out",
    .is_on = is_on,
};
