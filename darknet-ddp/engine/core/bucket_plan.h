/* core/bucket_plan.h: which gradient travels in which bucket. A pure function.
 *
 * Backward makes gradients from the last layer to the first, so buckets are
 * filled in that order (Li et al. 2020, section 3.2.3): a bucket closes as soon
 * as it holds its capacity. The first has a capacity of its own, small, so that
 * communication starts early. A parameter is never cut: one that is larger than
 * the capacity makes a bucket that is larger than the capacity. Layers that may be left out
 * together (table->block) share no bucket with others, so nothing is sent of layers
 * that are left out.
 *
 * At a bucket's end stands one element more for each of its parameters, its run count. Each rank
 * puts 1 there if the parameter's layer ran since the last step, else 0. Summed with the bucket, it
 * says on how many ranks the layer ran. */
#ifndef DDP_CORE_BUCKET_PLAN_H
#define DDP_CORE_BUCKET_PLAN_H

#include "base/status.h"
#include "core/params.h"
#include "device/float8.h"

/* Parameters begin at multiples of this many elements (64 bytes) in a bucket. No two share a block
 * of 8-bit floats, so buckets do not change how gradients are rounded. */
#define DDP_PLAN_ALIGN DDP_WIRE_BLOCK

typedef struct ddp_place {
    size_t bucket;
    size_t offset; /* elements from the start of the whole plan's memory */
    size_t nth;    /* index among the bucket's parameters; its run count has the same index */
} ddp_place;

typedef struct ddp_bucket {
    size_t offset;   /* elements from the start of the whole plan's memory */
    size_t count;    /* elements, run counts and alignment gaps included */
    size_t counts;   /* elements from the start of the plan's memory to the bucket's run counts */
    int first_layer; /* lowest layer with a parameter here */
    int last_layer;  /* highest layer with a parameter here */
    size_t param_count;
} ddp_bucket;

typedef struct ddp_bucket_plan {
    size_t count; /* elements of all buckets together */
    size_t bucket_count;
    ddp_bucket *buckets; /* all buckets, from the last layers' to the first layers' */
    ddp_place *places;   /* place of table->params[i] at index i; all 0 if its layer is frozen */
} ddp_bucket_plan;

/* Plan the parameters of layers table->first_trained and above. A bucket is closed when it holds
 * bucket_bytes, the first one when it holds first_bucket_bytes; each is at least 1. *out is set on
 * success; release it with ddp_bucket_plan_close. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_bucket_plan_open(ddp_bucket_plan **out, const ddp_param_table *table,
                                size_t bucket_bytes, size_t first_bucket_bytes,
                                ddp_error *err) DDP_MUST_CHECK;

/* Free a plan. NULL is allowed. */
void ddp_bucket_plan_close(ddp_bucket_plan *plan);

#endif
