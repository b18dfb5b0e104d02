#include "core/compressor.h"

#include "device/compress.h"
#include "device/top_k.h"

#include <stdlib.h>

enum { FIRST, SECOND, SUMS };

/* Where a parameter lies in its bucket's sums. */
struct part {
    ddp_shape shape; /* rows 0: it goes plain */
    size_t told;     /* numbers that tell a rank's largest elements; 0 with P and Q */
    size_t first;    /* of P, or of what rank 0 tells, or of the parameter itself */
    size_t second;   /* of Q */
};

struct bucket {
    float *memory[SUMS];
    size_t count[SUMS];
    ddp_allreduce *sums[SUMS];
    int skipped; /* in this pass */
};

struct ddp_compressor {
    ddp_group *group;
    const ddp_table *table;
    const ddp_plan *plan;
    float *gradients; /* all buckets' */
    ddp_feedback *feedback;
    double percent;         /* of top-k */
    ddp_device *queue;      /* of the table's device: what is done beside the framework's work */
    float *memory;          /* all sums' */
    struct part *parts;     /* per parameter */
    struct bucket *buckets; /* at the beginning of its first memory stand its run counts */
    size_t started[SUMS];   /* buckets of this pass whose sum has been */
};

/* ---- opening ---- */

static void place_part(ddp_compressor *c, size_t i)
{
    const ddp_param *param = &c->table->params[i];
    struct bucket *bucket = &c->buckets[c->plan->places[i].bucket];
    struct part *part = &c->parts[i];
    ddp_shape s = ddp_feedback_shape(c->feedback, i);

    part->shape = s;
    part->told = s.rows && !s.rank ? ddp_top_k_numbers(param->count, c->percent) : 0;
    part->first = bucket->count[FIRST];
    part->second = bucket->count[SECOND];
    if (part->told)
        bucket->count[FIRST] += (size_t)ddp_group_size(c->group) * part->told;
    else
        bucket->count[FIRST] += s.rank ? s.rows * s.rank : param->count;
    bucket->count[SECOND] += s.columns * s.rank;
}

/* Sums begin as buckets do. */
static size_t aligned(size_t count)
{
    return (count + DDP_PLAN_ALIGN - 1) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;
}

static ddp_status allocate_sums(ddp_compressor *c, ddp_error *err)
{
    size_t count = 0;
    float *next;

    for (size_t b = 0; b < c->plan->bucket_count; b++)
        count += aligned(c->buckets[b].count[FIRST]) + aligned(c->buckets[b].count[SECOND]);
    if (ddp_group_alloc_memory(c->group, c->table->device, &c->memory, count, err))
        return ddp_wrap(err, "compressed gradients");
    next = c->memory;
    for (int which = 0; which < SUMS; which++)
        for (size_t b = 0; b < c->plan->bucket_count; b++) {
            c->buckets[b].memory[which] = next;
            next += aligned(c->buckets[b].count[which]);
        }
    return DDP_OK;
}

/* First sums first, so that a bucket's has its number. */
static ddp_status open_sums(ddp_compressor *c, ddp_error *err)
{
    for (size_t b = 0; b < c->plan->bucket_count; b++)
        c->buckets[b].count[FIRST] = c->plan->buckets[b].param_count;
    for (size_t i = 0; i < c->table->param_count; i++)
        if (c->table->params[i].layer >= c->table->first_trained)
            place_part(c, i);
    if (allocate_sums(c, err))
        return err->code;
    for (int which = 0; which < SUMS; which++)
        for (size_t b = 0; b < c->plan->bucket_count; b++) {
            struct bucket *bucket = &c->buckets[b];

            if (ddp_allreduce_open_on(&bucket->sums[which], c->group, c->table->device,
                                      bucket->memory[which], bucket->count[which], DDP_WIRE_FP32,
                                      err))
                return ddp_wrap(err, "compressed gradients");
        }
    return DDP_OK;
}

ddp_status ddp_compressor_open(ddp_compressor **out, ddp_group *group, const ddp_table *table,
                               const ddp_plan *plan, float *memory, ddp_feedback *feedback,
                               ddp_error *err)
{
    ddp_compressor *c = calloc(1, sizeof *c);
    ddp_status st = DDP_OK;

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a compressor");
    *c = (ddp_compressor){.group = group,
                          .table = table,
                          .plan = plan,
                          .gradients = memory,
                          .feedback = feedback,
                          .percent = ddp_feedback_config(feedback).percent};
    c->parts = calloc(table->param_count + 1, sizeof *c->parts);
    c->buckets = calloc(plan->bucket_count + 1, sizeof *c->buckets);
    if (!c->parts || !c->buckets)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for a compressor of %zu buckets",
                      plan->bucket_count);
    if (!st)
        st = ddp_device_queue_open(&c->queue, table->device, err);
    if (!st)
        st = ddp_feedback_use(feedback, table->device, err);
    if (!st)
        st = open_sums(c, err);
    if (st) {
        ddp_compressor_close(c);
        return st;
    }
    *out = c;
    return DDP_OK;
}

void ddp_compressor_close(ddp_compressor *c)
{
    if (!c)
        return;
    for (size_t b = 0; c->buckets && b < c->plan->bucket_count; b++)
        for (int which = 0; which < SUMS; which++)
            ddp_allreduce_close(c->buckets[b].sums[which]);
    ddp_group_free_memory(c->group, c->table->device, c->memory);
    ddp_feedback_leave(c->feedback); /* once nothing waits for other ranks any more */
    ddp_device_queue_close(c->queue);
    free(c->parts);
    free(c->buckets);
    free(c);
}

/* ---- a pass ---- */

static int is_in(const ddp_compressor *c, size_t i, size_t bucket)
{
    return c->table->params[i].layer >= c->table->first_trained
           && c->plan->places[i].bucket == bucket;
}

void ddp_compressor_begin(ddp_compressor *c)
{
    c->started[FIRST] = 0;
    c->started[SECOND] = 0;
}

int ddp_compressor_may_start(const ddp_compressor *c)
{
    return c->started[FIRST] - c->started[SECOND] < 2;
}

static float *gradient_of(const ddp_compressor *c, size_t i)
{
    return c->gradients + c->plan->places[i].offset;
}

static ddp_low_rank low_rank_of(const ddp_compressor *c, size_t i)
{
    const struct bucket *bucket = &c->buckets[c->plan->places[i].bucket];
    const struct part *part = &c->parts[i];
    ddp_memory memory = ddp_feedback_used(c->feedback, i);

    return (ddp_low_rank){.shape = part->shape,
                          .m = gradient_of(c, i),
                          .error = memory.error,
                          .q = memory.q,
                          .drawn = memory.drawn,
                          .p = bucket->memory[FIRST] + part->first,
                          .q_sum = bucket->memory[SECOND] + part->second};
}

static ddp_largest largest_of(const ddp_compressor *c, size_t i)
{
    return (ddp_largest){.count = c->table->params[i].count,
                         .percent = c->percent,
                         .m = gradient_of(c, i),
                         .error = ddp_feedback_used(c->feedback, i).error,
                         .told = c->buckets[c->plan->places[i].bucket].memory[FIRST]
                                 + c->parts[i].first,
                         .rank = ddp_group_rank(c->group),
                         .ranks = ddp_group_size(c->group)};
}

/* The gradient becomes M, and what is summed is made of it. */
static void encode(ddp_compressor *c, size_t i, float *first)
{
    const struct part *part = &c->parts[i];

    if (part->told) {
        ddp_largest x = largest_of(c, i);

        ddp_largest_encode(c->queue, &x);
    } else if (part->shape.rank) {
        ddp_low_rank x = low_rank_of(c, i);

        ddp_low_rank_encode(c->queue, &x);
    } else {
        ddp_device_copy(c->queue, first + part->first, gradient_of(c, i),
                        c->table->params[i].count);
    }
}

ddp_status ddp_compressor_start(ddp_compressor *c, ddp_error *err)
{
    size_t b = c->started[FIRST]++;
    const ddp_bucket *planned = &c->plan->buckets[b];
    struct bucket *bucket = &c->buckets[b];

    bucket->skipped = 0;
    ddp_device_follow(c->queue, c->table->device);
    ddp_device_copy(c->queue, bucket->memory[FIRST], c->gradients + planned->counts,
                    planned->param_count);
    for (size_t i = 0; i < c->table->param_count; i++)
        if (is_in(c, i, b))
            encode(c, i, bucket->memory[FIRST]);
    return ddp_allreduce_start_behind(bucket->sums[FIRST], c->queue, err);
}

void ddp_compressor_skip(ddp_compressor *c)
{
    c->buckets[c->started[FIRST]++].skipped = 1;
}

size_t ddp_compressor_next(const ddp_compressor *c)
{
    return c->started[SECOND];
}

/* One bucket behind, but for the last. */
static int is_its_turn(const ddp_compressor *c)
{
    size_t first = c->started[FIRST], second = c->started[SECOND];

    return second < first && (second + 1 < first || first == c->plan->bucket_count);
}

static int has_second(const struct bucket *bucket)
{
    return bucket->count[SECOND] > 0 && !bucket->skipped;
}

int ddp_compressor_may_go_on(const ddp_compressor *c)
{
    const struct bucket *bucket = &c->buckets[c->started[SECOND]];

    return is_its_turn(c)
           && (!has_second(bucket) || !ddp_allreduce_fence_waits(bucket->sums[FIRST]));
}

ddp_status ddp_compressor_go_on(ddp_compressor *c, ddp_error *err)
{
    size_t b = c->started[SECOND]++;
    struct bucket *bucket = &c->buckets[b];

    if (!has_second(bucket))
        return DDP_OK;
    if (ddp_allreduce_fence_before(bucket->sums[FIRST], c->queue, err))
        return err->code;
    for (size_t i = 0; i < c->table->param_count; i++)
        if (is_in(c, i, b) && c->parts[i].shape.rank) {
            ddp_low_rank x = low_rank_of(c, i);

            ddp_low_rank_go_on(c->queue, &x);
        }
    return ddp_allreduce_start_behind(bucket->sums[SECOND], c->queue, err);
}

ddp_allreduce *ddp_compressor_sum(const ddp_compressor *c, size_t bucket)
{
    const struct bucket *b = &c->buckets[bucket];

    return b->count[SECOND] ? b->sums[SECOND] : b->sums[FIRST];
}

int ddp_compressor_done(const ddp_compressor *c, size_t bucket)
{
    return bucket < c->started[SECOND] && ddp_allreduce_done(ddp_compressor_sum(c, bucket));
}

int ddp_compressor_finite(const ddp_compressor *c, size_t bucket)
{
    const struct bucket *b = &c->buckets[bucket];

    return ddp_allreduce_finite(b->sums[FIRST])
           && (!b->count[SECOND] || ddp_allreduce_finite(b->sums[SECOND]));
}

/* ---- what has arrived ---- */

/* The next Q is made beside what the framework computes next. */
static void decode(ddp_compressor *c, size_t i, const float *ran)
{
    ddp_low_rank x = low_rank_of(c, i);

    ddp_low_rank_decode(c->table->device, &x, ran, 1.0F / (float)ddp_group_size(c->group));
    ddp_device_follow(c->queue, c->table->device);
    ddp_low_rank_renew(c->queue, &x, ran);
}

void ddp_compressor_land(ddp_compressor *c, size_t i)
{
    const ddp_place *place = &c->plan->places[i];
    const float *first = c->buckets[place->bucket].memory[FIRST], *ran = first + place->nth;
    ddp_device *d = c->table->device;

    ddp_device_copy(d, c->gradients + c->plan->buckets[place->bucket].counts + place->nth, ran, 1);
    if (c->parts[i].told) {
        ddp_largest x = largest_of(c, i);

        ddp_largest_decode(d, &x, ran);
    } else if (c->parts[i].shape.rank) {
        decode(c, i, ran);
    } else {
        ddp_device_copy(d, gradient_of(c, i), first + c->parts[i].first, c->table->params[i].count);
    }
}

size_t ddp_compressor_count(const ddp_compressor *c, size_t bucket)
{
    return c->buckets[bucket].count[FIRST] + c->buckets[bucket].count[SECOND];
}
