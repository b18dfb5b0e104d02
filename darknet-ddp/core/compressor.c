#include "core/compressor.h"

#include "core/top_k.h"

#include <stdlib.h>
#include <string.h>

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

static ddp_status open_bucket_sums(ddp_compressor *c, int which, ddp_error *err)
{
    for (size_t b = 0; b < c->plan->bucket_count; b++) {
        struct bucket *bucket = &c->buckets[b];

        if (ddp_group_alloc_memory(c->group, ddp_device_host(), &bucket->memory[which],
                                   bucket->count[which], err)
            || ddp_allreduce_open(&bucket->sums[which], c->group, bucket->memory[which],
                                  bucket->count[which], err))
            return ddp_wrap(err, "compressed gradients");
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
    if (open_bucket_sums(c, FIRST, err))
        return err->code;
    return open_bucket_sums(c, SECOND, err);
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
        for (int which = 0; which < SUMS; which++) {
            ddp_allreduce_close(c->buckets[b].sums[which]);
            ddp_group_free_memory(c->group, ddp_device_host(), c->buckets[b].memory[which]);
        }
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

/* What this rank tells in a top-k sum. */
static float *own_of(const ddp_compressor *c, size_t i, float *first)
{
    return first + (size_t)ddp_group_rank(c->group) * c->parts[i].told;
}

/* The gradient becomes M, and its largest elements are told in this rank's place. */
static void encode_top_k(ddp_compressor *c, size_t i, float *gradient, float *to)
{
    size_t count = c->table->params[i].count;

    ddp_device_add(ddp_device_host(), gradient, ddp_feedback_error(c->feedback, i), count);
    memset(to, 0, (size_t)ddp_group_size(c->group) * c->parts[i].told * sizeof *to);
    ddp_top_k_take(own_of(c, i, to), gradient, count, c->percent);
}

/* The gradient becomes M, and what is summed is made of it. */
static void encode(ddp_compressor *c, size_t i, float *to)
{
    float *gradient = c->gradients + c->plan->places[i].offset;
    const struct part *part = &c->parts[i];

    if (part->told)
        encode_top_k(c, i, gradient, to);
    else if (part->shape.rank)
        ddp_matrix_add_times(gradient, ddp_feedback_error(c->feedback, i),
                             ddp_feedback_q(c->feedback, i), to, part->shape);
    else
        memcpy(to, gradient, c->table->params[i].count * sizeof *to);
}

ddp_status ddp_compressor_start(ddp_compressor *c, ddp_error *err)
{
    size_t b = c->started[FIRST]++;
    const ddp_bucket *planned = &c->plan->buckets[b];
    struct bucket *bucket = &c->buckets[b];

    bucket->skipped = 0;
    memcpy(bucket->memory[FIRST], c->gradients + planned->counts,
           planned->param_count * sizeof(float));
    for (size_t i = 0; i < c->table->param_count; i++)
        if (is_in(c, i, b))
            encode(c, i, bucket->memory[FIRST] + c->parts[i].first);
    return ddp_allreduce_start(bucket->sums[FIRST], err);
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

int ddp_compressor_may_go_on(const ddp_compressor *c)
{
    const struct bucket *bucket = &c->buckets[c->started[SECOND]];

    return is_its_turn(c) && (bucket->skipped || ddp_allreduce_done(bucket->sums[FIRST]));
}

static void make_second(ddp_compressor *c, size_t i, struct bucket *bucket)
{
    const struct part *part = &c->parts[i];
    float *p = bucket->memory[FIRST] + part->first;

    ddp_matrix_orthogonalize(p, part->shape.rows, part->shape.rank);
    ddp_matrix_transposed_times(c->gradients + c->plan->places[i].offset, p,
                                bucket->memory[SECOND] + part->second, part->shape);
}

ddp_status ddp_compressor_go_on(ddp_compressor *c, ddp_error *err)
{
    size_t b = c->started[SECOND]++;
    struct bucket *bucket = &c->buckets[b];

    if (bucket->skipped)
        return DDP_OK;
    if (ddp_allreduce_fence(bucket->sums[FIRST], err))
        return err->code;
    for (size_t i = 0; i < c->table->param_count; i++)
        if (is_in(c, i, b) && c->parts[i].shape.rank)
            make_second(c, i, bucket);
    return ddp_allreduce_start(bucket->sums[SECOND], err);
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

static void decode(ddp_compressor *c, size_t i, const struct bucket *bucket, float *gradient)
{
    const struct part *part = &c->parts[i];
    ddp_shape s = part->shape;
    const float *sum = bucket->memory[SECOND] + part->second;
    float *q = ddp_feedback_q(c->feedback, i);

    ddp_matrix_approximate(gradient, ddp_feedback_error(c->feedback, i),
                           bucket->memory[FIRST] + part->first, sum,
                           1.0F / (float)ddp_group_size(c->group), s);
    memcpy(q, sum, s.columns * s.rank * sizeof *q);
    ddp_feedback_renew_q(c->feedback, i);
}

/* M is still in the gradient, and what this rank has told in its place, as the others added zero.
 */
static void decode_top_k(ddp_compressor *c, size_t i, float *first, float *gradient)
{
    size_t count = c->table->params[i].count;
    float *error = ddp_feedback_error(c->feedback, i);

    memcpy(error, gradient, count * sizeof *error);
    ddp_top_k_clear(error, own_of(c, i, first), count, c->percent);
    memset(gradient, 0, count * sizeof *gradient);
    for (int rank = 0; rank < ddp_group_size(c->group); rank++)
        ddp_top_k_add(gradient, first + (size_t)rank * c->parts[i].told, count, c->percent);
}

void ddp_compressor_land(ddp_compressor *c, size_t i)
{
    const ddp_place *place = &c->plan->places[i];
    const struct bucket *bucket = &c->buckets[place->bucket];
    float *gradient = c->gradients + place->offset;
    size_t count = c->table->params[i].count;
    float ran = bucket->memory[FIRST][place->nth];

    c->gradients[c->plan->buckets[place->bucket].counts + place->nth] = ran;
    if (!c->parts[i].shape.rows)
        memcpy(gradient, bucket->memory[FIRST] + c->parts[i].first, count * sizeof *gradient);
    else if (ran <= 0)
        memset(gradient, 0, count * sizeof *gradient);
    else if (c->parts[i].told)
        decode_top_k(c, i, bucket->memory[FIRST] + c->parts[i].first, gradient);
    else
        decode(c, i, bucket, gradient);
}

size_t ddp_compressor_count(const ddp_compressor *c, size_t bucket)
{
    return c->buckets[bucket].count[FIRST] + c->buckets[bucket].count[SECOND];
}
