#include "cli/bucketing.h"

#include "cli/gpus.h"

ddp_tuning ddp_bucketing_asked(const ddp_options *o, const ddp_group *group)
{
    int defers = o->overlap && ddp_group_size(group) > 1;

    return (ddp_tuning){.bucket_mb = ddp_options_bucket_mb(o, ddp_gpus_use_nccl(group)),
                        .first_bucket_mb = ddp_options_first_bucket_mb(o),
                        .defer_mb = defers ? ddp_options_defer_mb(o) : 0,
                        .priority = defers && o->priority == 1};
}

/* A large bucket travels in pieces as large as the others, and no smaller than messages are. */
static size_t piece_bytes(size_t bucket_bytes)
{
    size_t least = 512 << 10;

    return bucket_bytes < least ? least : bucket_bytes;
}

ddp_bucketing ddp_bucketing_of(const ddp_tuning *t)
{
    const double mib = 1 << 20;
    size_t bucket_bytes = (size_t)(t->bucket_mb * mib);

    return (ddp_bucketing){.bucket_bytes = bucket_bytes,
                           .first_bucket_bytes = (size_t)(t->first_bucket_mb * mib),
                           .defer_bytes = (size_t)(t->defer_mb * mib),
                           .piece_bytes = t->priority ? piece_bytes(bucket_bytes) : 0,
                           .priority = t->priority,
                           .chunks = t->chunks};
}
