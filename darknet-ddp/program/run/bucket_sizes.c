#include "run/bucket_sizes.h"

#include "algorithms/sum_order.h"
#include "launch/gpus.h"

/* A large bucket travels in pieces as large as the others, and no smaller than messages are. */
static size_t piece_bytes(size_t bucket_bytes)
{
    size_t least = 512 << 10;

    return bucket_bytes < least ? least : bucket_bytes;
}

ddp_bucket_sizes ddp_bucket_sizes_of(const ddp_options *o, const ddp_group *group)
{
    const double mib = 1 << 20;
    ddp_sum_order order = ddp_sum_order_of(o, ddp_group_size(group), ddp_gpus_wanted(o));
    ddp_bucket_sizes b = {.bucket_bytes =
                              (size_t)(ddp_options_bucket_mb(o, ddp_gpus_use_nccl(group)) * mib),
                          .first_bucket_bytes = (size_t)(ddp_options_first_bucket_mb(o) * mib),
                          .defer_bytes = order.defers ? (size_t)(ddp_options_defer_mb(o) * mib) : 0,
                          .priority = order.prioritises && o->priority == 1};

    if (b.priority)
        b.piece_bytes = piece_bytes(b.bucket_bytes);
    return b;
}
