#include "algorithms/algorithm.h"

static int is_on(const ddp_options *o)
{
    return o->compress.word == DDP_CHOICE_powersgd;
}

const ddp_algorithm ddp_algorithm_powersgd = {
    .name = "powersgd",
    .example = "-ddp_compress powersgd:2",
    .claims = {.decides = DDP_DECIDES_SUM | DDP_DECIDES_ORDER,
               .breaks = DDP_PROMISE_EXACT,
               .relies = DDP_PROMISE_SUMS}, /* what a rank keeps waits for the next sum */
    .sums = "what is compressed",
    .is_on = is_on,
};
