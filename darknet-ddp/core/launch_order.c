#include "core/launch_order.h"

ddp_launch_order ddp_launch_order_of(const ddp_plan *plan, size_t defer_bytes)
{
    size_t most = plan->count / 4, count = 0, elements = 0;

    if (most > defer_bytes / sizeof(float))
        most = defer_bytes / sizeof(float);
    while (count < plan->bucket_count) {
        elements += plan->buckets[count].count;
        if (elements > most)
            break;
        count++;
    }
    return (ddp_launch_order){.buckets = plan->bucket_count, .deferred = count};
}

size_t ddp_launch_order_undeferred(ddp_launch_order o)
{
    return o.buckets - o.deferred;
}

size_t ddp_launch_order_nth(ddp_launch_order o, size_t n)
{
    return n < ddp_launch_order_undeferred(o) ? n + o.deferred : o.buckets - 1 - n;
}

size_t ddp_launch_order_number(ddp_launch_order o, size_t bucket)
{
    return bucket < o.deferred ? o.buckets - 1 - bucket : bucket - o.deferred;
}
