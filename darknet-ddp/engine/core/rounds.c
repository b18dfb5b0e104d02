#include "core/rounds.h"

#include "comm/group_gpu.h"
#include "comm/work.h"

#include <stdlib.h>

enum { FIRST, SECOND, ROUNDS };

_Static_assert((int)ROUNDS == (int)DDP_SUM_ROUNDS, "rounds are those of the plug");

/* Where a parameter lies in its bucket's sums. Where they gather, what ranks tell each other lies
 * where else second sums do. */
struct part {
    int is_plain; /* it is summed as it is */
    size_t plain; /* where in the first sum */
    size_t count[ROUNDS];
    size_t at[ROUNDS]; /* where they begin, of rank 0 */
};

struct bucket {
    float *memory[ROUNDS];
    size_t count[ROUNDS]; /* of a rank */
    ddp_work *sums[ROUNDS];
    int skipped; /* in this pass */
};

struct ddp_rounds {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *gradients; /* all buckets' */
    const ddp_sum_plug *plug;
    void *self;
    int gathers;            /* plug->gathers said so */
    ddp_device *queue;      /* of the table's device: what is done beside the framework's work */
    float *memory;          /* all sums' */
    struct part *parts;     /* per parameter */
    struct bucket *buckets; /* at the beginning of its first memory stand its run counts */
    size_t started[ROUNDS]; /* buckets of this pass whose sum has been */
};

/* ---- opening ---- */

/* In which of a bucket's sums the numbers of a round are. */
static int place_of(const ddp_rounds *r, int round)
{
    return r->gathers ? SECOND : round;
}

/* Floats that a sum takes: a gather has a place for each rank. */
static size_t room_of(const ddp_rounds *r, const struct bucket *bucket, int which)
{
    size_t ranks = r->gathers && which == SECOND ? (size_t)ddp_group_size(r->group) : 1;

    return bucket->count[which] * ranks;
}

static void place_part(ddp_rounds *r, size_t i)
{
    struct bucket *bucket = &r->buckets[r->plan->places[i].bucket];
    struct part *part = &r->parts[i];

    for (int round = 0; round < ROUNDS; round++) {
        int which = place_of(r, round);

        part->count[round] = r->plug->count(r->self, i, round);
        part->at[round] = bucket->count[which];
        bucket->count[which] += part->count[round];
    }
    part->is_plain = part->count[FIRST] == 0;
    part->plain = bucket->count[FIRST];
    if (part->is_plain)
        bucket->count[FIRST] += r->table->params[i].count;
}

/* Sums begin as buckets do. */
static size_t aligned(size_t count)
{
    return (count + DDP_PLAN_ALIGN - 1) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;
}

static ddp_status allocate_sums(ddp_rounds *r, ddp_error *err)
{
    size_t count = 0;
    float *next;

    for (size_t b = 0; b < r->plan->bucket_count; b++)
        for (int which = 0; which < ROUNDS; which++)
            count += aligned(room_of(r, &r->buckets[b], which));
    if (ddp_group_alloc_memory(r->group, r->table->device, &r->memory, count, err))
        return ddp_wrap(err, "compressed gradients");
    next = r->memory;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t b = 0; b < r->plan->bucket_count; b++) {
            r->buckets[b].memory[round] = next;
            next += aligned(room_of(r, &r->buckets[b], round));
        }
    return DDP_OK;
}

static ddp_status open_sum(const ddp_rounds *r, struct bucket *bucket, int which, ddp_error *err)
{
    ddp_device *d = r->table->device;

    if (r->gathers && which == SECOND)
        return ddp_allgather_open(&bucket->sums[which], r->group, d, bucket->memory[which],
                                  bucket->count[which], err);
    return ddp_allreduce_open_on(&bucket->sums[which], r->group, d, bucket->memory[which],
                                 bucket->count[which], DDP_WIRE_FP32, err);
}

/* The first sums of all buckets, then the second: in errors a first sum has its bucket's number. */
static ddp_status open_sums(ddp_rounds *r, ddp_error *err)
{
    for (size_t b = 0; b < r->plan->bucket_count; b++)
        r->buckets[b].count[FIRST] = r->plan->buckets[b].param_count;
    for (size_t i = 0; i < r->table->param_count; i++)
        if (r->table->params[i].layer >= r->table->first_trained)
            place_part(r, i);
    if (allocate_sums(r, err))
        return err->code;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t b = 0; b < r->plan->bucket_count; b++) {
            if (open_sum(r, &r->buckets[b], round, err))
                return ddp_wrap(err, "compressed gradients");
        }
    return DDP_OK;
}

void ddp_rounds_close(ddp_rounds *r)
{
    if (!r)
        return;
    for (size_t b = 0; r->buckets && b < r->plan->bucket_count; b++)
        for (int round = 0; round < ROUNDS; round++)
            ddp_work_close(r->buckets[b].sums[round]);
    ddp_group_free_memory(r->group, r->table->device, r->memory);
    ddp_device_queue_close(r->queue);
    free(r->parts);
    free(r->buckets);
    free(r);
}

/* ---- a pass ---- */

static int is_in(const ddp_rounds *r, size_t i, size_t bucket)
{
    return r->table->params[i].layer >= r->table->first_trained
           && r->plan->places[i].bucket == bucket;
}

void ddp_rounds_begin(ddp_rounds *r)
{
    r->started[FIRST] = 0;
    r->started[SECOND] = 0;
}

int ddp_rounds_may_start_first(const ddp_rounds *r)
{
    return r->started[FIRST] - r->started[SECOND] < 2;
}

static float *gradient_of(const ddp_rounds *r, size_t i)
{
    return r->gradients + r->plan->places[i].offset;
}

static ddp_plug_param part_of(const ddp_rounds *r, size_t i)
{
    const struct bucket *bucket = &r->buckets[r->plan->places[i].bucket];
    const struct part *part = &r->parts[i];

    return (ddp_plug_param){
        .param = i,
        .gradient = gradient_of(r, i),
        .numbers = {bucket->memory[place_of(r, FIRST)] + part->at[FIRST],
                    part->count[SECOND] ? bucket->memory[SECOND] + part->at[SECOND] : NULL},
        .stride = r->gathers ? bucket->count[SECOND] : 0};
}

/* What is summed first, made of the gradient. */
static void fill(ddp_rounds *r, size_t i, float *first)
{
    const struct part *part = &r->parts[i];
    ddp_plug_param p = part_of(r, i);

    if (part->is_plain)
        ddp_device_copy(r->queue, first + part->plain, p.gradient, r->table->params[i].count);
    else
        r->plug->fill(r->self, &p, FIRST, r->queue);
}

ddp_status ddp_rounds_start_first(ddp_rounds *r, size_t b, ddp_error *err)
{
    const ddp_bucket *planned = &r->plan->buckets[b];
    struct bucket *bucket = &r->buckets[b];

    r->started[FIRST]++;
    bucket->skipped = 0;
    ddp_device_follow(r->queue, r->table->device);
    ddp_device_copy(r->queue, bucket->memory[FIRST], r->gradients + planned->counts,
                    planned->param_count);
    for (size_t i = 0; i < r->table->param_count; i++)
        if (is_in(r, i, b))
            fill(r, i, bucket->memory[FIRST]);
    if (ddp_work_start_behind(bucket->sums[FIRST], r->queue, err))
        return err->code;
    return r->gathers ? ddp_work_start_behind(bucket->sums[SECOND], r->queue, err) : DDP_OK;
}

void ddp_rounds_skip_bucket(ddp_rounds *r, size_t b)
{
    r->started[FIRST]++;
    r->buckets[b].skipped = 1;
}

int ddp_rounds_has_second_left(const ddp_rounds *r, size_t *bucket)
{
    *bucket = r->started[SECOND];
    return *bucket < r->plan->bucket_count;
}

/* One bucket behind, but for the last. */
static int is_its_turn(const ddp_rounds *r)
{
    size_t first = r->started[FIRST], second = r->started[SECOND];

    return second < first && (second + 1 < first || first == r->plan->bucket_count);
}

/* Is there a sum to start when the first has arrived? A gather has started with it. */
static int has_second(const ddp_rounds *r, const struct bucket *bucket)
{
    return bucket->count[SECOND] > 0 && !bucket->skipped && !r->gathers;
}

int ddp_rounds_may_start_second(const ddp_rounds *r)
{
    const struct bucket *bucket = &r->buckets[r->started[SECOND]];

    return is_its_turn(r) && (!has_second(r, bucket) || !ddp_work_fence_waits(bucket->sums[FIRST]));
}

ddp_status ddp_rounds_start_second(ddp_rounds *r, ddp_error *err)
{
    size_t b = r->started[SECOND]++;
    struct bucket *bucket = &r->buckets[b];

    if (!has_second(r, bucket))
        return DDP_OK;
    if (ddp_work_fence_before(bucket->sums[FIRST], r->queue, err))
        return err->code;
    for (size_t i = 0; i < r->table->param_count; i++)
        if (is_in(r, i, b) && r->parts[i].count[SECOND] > 0) {
            ddp_plug_param p = part_of(r, i);

            r->plug->fill(r->self, &p, SECOND, r->queue);
        }
    return ddp_work_start_behind(bucket->sums[SECOND], r->queue, err);
}

ddp_work *ddp_rounds_last(const ddp_rounds *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return bucket->count[SECOND] ? bucket->sums[SECOND] : bucket->sums[FIRST];
}

/* Of two sums under way at a time both; of rounds the first has had its fence. */
ddp_status ddp_rounds_fence_bucket(ddp_rounds *r, size_t b, ddp_error *err)
{
    ddp_work *first = r->buckets[b].sums[FIRST];

    if (r->gathers && ddp_work_fence(first, err))
        return err->code;
    return !r->gathers || r->buckets[b].count[SECOND] > 0
               ? ddp_work_fence(ddp_rounds_last(r, b), err)
               : DDP_OK;
}

int ddp_rounds_done(const ddp_rounds *r, size_t b)
{
    return b < r->started[SECOND] && ddp_work_done(ddp_rounds_last(r, b))
           && (!r->gathers || ddp_work_done(r->buckets[b].sums[FIRST]));
}

int ddp_rounds_finite(const ddp_rounds *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return ddp_work_finite(bucket->sums[FIRST])
           && (!bucket->count[SECOND] || ddp_work_finite(bucket->sums[SECOND]));
}

/* ---- what has arrived ---- */

void ddp_rounds_land_param(ddp_rounds *r, size_t i)
{
    const ddp_place *place = &r->plan->places[i];
    const float *first = r->buckets[place->bucket].memory[FIRST], *ran = first + place->nth;
    ddp_device *d = r->table->device;
    ddp_plug_param p = part_of(r, i);

    ddp_device_copy(d, r->gradients + r->plan->buckets[place->bucket].counts + place->nth, ran, 1);
    if (r->parts[i].is_plain)
        ddp_device_copy(d, p.gradient, first + r->parts[i].plain, r->table->params[i].count);
    else
        r->plug->land(r->self, &p, ran, d, r->queue);
}

size_t ddp_rounds_count(const ddp_rounds *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return bucket->count[FIRST] + bucket->count[SECOND];
}

ddp_status ddp_rounds_open(ddp_rounds **out, ddp_group *group, const ddp_param_table *table,
                           const ddp_bucket_plan *plan, float *gradients, const ddp_sum_plug *plug,
                           void *self, ddp_error *err)
{
    ddp_rounds *r = calloc(1, sizeof *r);
    ddp_status st = DDP_OK;

    *out = NULL;
    if (!r)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for compressed gradients");
    *r = (ddp_rounds){.group = group,
                      .table = table,
                      .plan = plan,
                      .gradients = gradients,
                      .plug = plug,
                      .self = self,
                      .gathers = plug->gathers && plug->gathers(self)};
    r->parts = calloc(table->param_count + 1, sizeof *r->parts);
    r->buckets = calloc(plan->bucket_count + 1, sizeof *r->buckets);
    if (!r->parts || !r->buckets)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for compressed gradients of %zu buckets",
                      plan->bucket_count);
    if (!st)
        st = ddp_device_queue_open(&r->queue, table->device, err);
    if (!st)
        st = open_sums(r, err);
    if (st) {
        ddp_rounds_close(r);
        return st;
    }
    *out = r;
    return DDP_OK;
}
