#include "run/reducer_config.h"

#include "algorithms/launch_policy.h"
#include "launch/gpus.h"

/* A large bucket travels in pieces as large as the others, and no smaller than messages are. */
static size_t piece_bytes(size_t bucket_bytes)
{
    size_t least = 512 << 10;

    return bucket_bytes < least ? least : bucket_bytes;
}

ddp_reducer_config ddp_reducer_config_of(const ddp_options *o, const ddp_group *group,
                                         ddp_watch *watch)
{
    const double mib = 1 << 20;
    ddp_launch_policy policy = ddp_launch_policy_of(o, ddp_group_size(group), ddp_gpus_wanted(o));
    size_t bucket_bytes = (size_t)(ddp_options_bucket_mb(o, ddp_gpus_use_nccl(group)) * mib);

    return (ddp_reducer_config){
        .bucket_bytes = bucket_bytes,
        .first_bucket_bytes = (size_t)(ddp_options_first_bucket_mb(o) * mib),
        .defer_bytes = policy.defer_bytes,
        .piece_bytes = policy.priority ? piece_bytes(bucket_bytes) : 0,
        .priority = policy.priority,
        .overlap = o->overlap,
        .find_unused = o->find_unused,
        .wire = ddp_compress_choice_wire(&o->compress),
        .names = ddp_options_names(),
        .watch = watch,
    };
}
