/* run/bucket_sizes.h: how options become buckets. A pure function. */
#ifndef DDP_RUN_BUCKET_SIZES_H
#define DDP_RUN_BUCKET_SIZES_H

#include "comm/group.h"
#include "options/options.h"

#include <stddef.h>

/* How gradients are put into buckets, and in which order these travel: as of ddp_reducer_config. */
typedef struct ddp_bucket_sizes {
    size_t bucket_bytes, first_bucket_bytes, defer_bytes, piece_bytes;
    int priority;
} ddp_bucket_sizes;

/* What was asked for, or the defaults. */
ddp_bucket_sizes ddp_bucket_sizes_of(const ddp_options *options, const ddp_group *group);

#endif
