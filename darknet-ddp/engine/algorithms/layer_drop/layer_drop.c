#include "algorithms/algorithm.h"

static int is_on(const ddp_options *o)
{
    return o->layer_drop > 0;
}

const ddp_algorithm ddp_algorithm_layer_drop = {
    .name = "layer_drop",
    .example = "-ddp_layer_drop 0.5",
    .claims = {.decides = DDP_DECIDES_LAYERS, .breaks = DDP_PROMISE_PLAIN},
    .is_on = is_on,
};
