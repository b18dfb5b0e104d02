#include "algorithms/sum_order.h"

#include "algorithms/algorithm.h"

/* NULL: none. */
static const ddp_algorithm *who_decides(const ddp_options *o)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if ((ddp_algorithms[i]->claims.decides & DDP_DECIDES_ORDER) && ddp_algorithms[i]->is_on(o))
            return ddp_algorithms[i];
    return NULL;
}

ddp_sum_order ddp_sum_order_of(const ddp_options *o, int ranks, int on_gpus)
{
    const ddp_algorithm *decides = who_decides(o);
    ddp_sum_order order = {0};

    if (decides)
        order.fixed = decides->sums;
    else if (o->on_nan > 0) /* nothing is updated before all has arrived */
        order.fixed = "where steps may be skipped, what is sent";
    else if (!o->overlap)
        order.fixed = "without overlap, what is sent";
    order.defers = !order.fixed && ranks > 1;
    if (!order.fixed && on_gpus) /* the program cannot tell what has landed when backward ends */
        order.fixed = "what GPUs send";
    order.prioritises = !order.fixed && ranks > 1;
    return order;
}
