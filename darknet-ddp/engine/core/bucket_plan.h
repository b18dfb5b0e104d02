/* core/bucket_plan.h: decides which gradient travels in which bucket. A pure function.
 *
 * Backward makes gradients from the last layer to the first, so buckets are filled in that order
 * (Li et al. 2020, section 3.2.3). A bucket is closed when it has reached its size. The first one
 * has a size of its own: a small one, so that communication starts early. A parameter is never cut;
 * one that is larger than the size makes a larger bucket. A block of layers, which an algorithm
 * drops together (table->block), shares no bucket with other layers, so that its buckets need not
 * be sent.
 *
 * A bucket ends with room for a *run count* of each of its parameters: 1 if the parameter's layer
 * ran on this rank since the last update, else 0. Ranks sum them (core/reducer_unused.c). */
#ifndef DDP_CORE_BUCKET_PLAN_H
#define DDP_CORE_BUCKET_PLAN_H

#include "base/status.h"
#include "core/params.h"
#include "device/float8.h"

/* Each parameter begins at a multiple of this many elements (64 bytes) in its bucket. So no two
 * share a block of 8-bit floats, and the buckets do not change how gradients are rounded. */
#define DDP_PLAN_ALIGN DDP_WIRE_BLOCK

/* Where a parameter's gradient lies. Offsets are in elements from the start of the plan's memory.
 */
typedef struct ddp_place {
    size_t bucket;
    size_t offset;
    size_t nth; /* index of the parameter in its bucket, and of its run count there */
} ddp_place;

typedef struct ddp_bucket {
    size_t offset;   /* where it begins: elements from the start of the plan's memory */
    size_t count;    /* elements, run counts and alignment gaps included */
    size_t counts;   /* where its run counts begin: elements from the start of the plan's memory */
    int first_layer; /* lowest layer with a parameter in the bucket */
    int last_layer;  /* highest layer with a parameter in the bucket */
    size_t param_count;
} ddp_bucket;

typedef struct ddp_bucket_plan {
    size_t count; /* elements of all buckets together */
    size_t bucket_count;
    ddp_bucket *buckets; /* the bucket of the last layers first, that of the first layers last */
    ddp_place *places;   /* by parameter: its gradient's place; all 0 if frozen for good */
} ddp_bucket_plan;

/* Plan the buckets of all parameters of layers from table->first_trained on. A bucket is closed
 * when it has bucket_bytes or more, the first one when it has first_bucket_bytes or more; both are
 * at least 1. It is also closed where a block of layers (table->block) begins or ends. *out is set
 * on success; free it with ddp_bucket_plan_close. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_bucket_plan_open(ddp_bucket_plan **out, const ddp_param_table *table,
                                size_t bucket_bytes, size_t first_bucket_bytes,
                                ddp_error *err) DDP_MUST_CHECK;

/* Free a plan. NULL is allowed. */
void ddp_bucket_plan_close(ddp_bucket_plan *plan);

#endif
