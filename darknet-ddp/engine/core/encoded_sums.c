#include "core/encoded_sums.h"

#include "comm/group_gpu.h"
#include "comm/work.h"

#include <stdlib.h>

/* Rounds of the codec: the numbers that it makes of a gradient, and those that it makes of their
 * sum. */
enum { ROUND_0, ROUND_1, ROUNDS };

_Static_assert((int)ROUNDS == (int)DDP_CODEC_ROUNDS, "rounds are those of the codec");

/* Places of a bucket, each with memory and a sum of its own. Numbers of round 0 lie in FIRST, those
 * of round 1 in SECOND. Where ranks gather there is no round 1: the numbers of round 0 lie in
 * SECOND, which is an all-gather. Run counts and gradients that are not encoded are always in
 * FIRST. */
enum { FIRST, SECOND, PLACES };

/* Where a parameter's numbers are. */
struct numbers {
    int is_plain;         /* its gradient is summed as it is */
    size_t plain;         /* where that begins in FIRST */
    size_t count[ROUNDS]; /* of each round */
    size_t at[ROUNDS];    /* where these begin in their place, for rank 0 */
};

struct bucket {
    float *memory[PLACES];
    size_t count[PLACES]; /* numbers of one rank */
    ddp_work *sums[PLACES];
    int skipped; /* in this pass */
};

struct ddp_encoded_sums {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_bucket_plan *plan;
    float *gradients; /* all buckets' */
    const ddp_gradient_codec *codec;
    void *self;
    int gathers;             /* codec->gathers returned 1 */
    ddp_device *queue;       /* of the table's device: what is done beside the framework's work */
    float *memory;           /* all sums' */
    struct numbers *numbers; /* per parameter */
    struct bucket *buckets;  /* FIRST begins with the bucket's run counts */
    size_t firsts, seconds;  /* buckets of this pass whose turn to start that sum has been */
};

/* ---- opening ---- */

static int place_of(const ddp_encoded_sums *r, int round)
{
    return round == ROUND_1 || r->gathers ? SECOND : FIRST;
}

/* Floats that a place has: an all-gather has room for each rank. */
static size_t room_of(const ddp_encoded_sums *r, const struct bucket *bucket, int place)
{
    size_t ranks = r->gathers && place == SECOND ? (size_t)ddp_group_size(r->group) : 1;

    return bucket->count[place] * ranks;
}

static void place_numbers(ddp_encoded_sums *r, size_t i)
{
    struct bucket *bucket = &r->buckets[r->plan->places[i].bucket];
    struct numbers *numbers = &r->numbers[i];

    for (int round = 0; round < ROUNDS; round++) {
        int place = place_of(r, round);

        numbers->count[round] = r->codec->count(r->self, i, round);
        numbers->at[round] = bucket->count[place];
        bucket->count[place] += numbers->count[round];
    }
    numbers->is_plain = numbers->count[ROUND_0] == 0;
    numbers->plain = bucket->count[FIRST];
    if (numbers->is_plain)
        bucket->count[FIRST] += r->table->params[i].count;
}

/* Sums begin as buckets do. */
static size_t aligned(size_t count)
{
    return (count + DDP_PLAN_ALIGN - 1) / DDP_PLAN_ALIGN * DDP_PLAN_ALIGN;
}

static ddp_status allocate_sums(ddp_encoded_sums *r, ddp_error *err)
{
    size_t count = 0;
    float *next;

    for (size_t b = 0; b < r->plan->bucket_count; b++)
        for (int place = 0; place < PLACES; place++)
            count += aligned(room_of(r, &r->buckets[b], place));
    if (ddp_group_alloc_memory(r->group, r->table->device, &r->memory, count, err))
        return ddp_wrap(err, "compressed gradients");
    next = r->memory;
    for (int place = 0; place < PLACES; place++)
        for (size_t b = 0; b < r->plan->bucket_count; b++) {
            r->buckets[b].memory[place] = next;
            next += aligned(room_of(r, &r->buckets[b], place));
        }
    return DDP_OK;
}

static ddp_status open_sum(const ddp_encoded_sums *r, struct bucket *bucket, int place,
                           ddp_error *err)
{
    ddp_device *d = r->table->device;

    if (r->gathers && place == SECOND)
        return ddp_allgather_open(&bucket->sums[place], r->group, d, bucket->memory[place],
                                  bucket->count[place], err);
    return ddp_allreduce_open_on(&bucket->sums[place], r->group, d, bucket->memory[place],
                                 bucket->count[place], DDP_WIRE_FP32, err);
}

/* The first sums of all buckets, then the second: in errors a first sum has its bucket's number. */
static ddp_status open_sums(ddp_encoded_sums *r, ddp_error *err)
{
    for (size_t b = 0; b < r->plan->bucket_count; b++)
        r->buckets[b].count[FIRST] = r->plan->buckets[b].param_count;
    for (size_t i = 0; i < r->table->param_count; i++)
        if (r->table->params[i].layer >= r->table->first_trained)
            place_numbers(r, i);
    if (allocate_sums(r, err))
        return err->code;
    for (int place = 0; place < PLACES; place++)
        for (size_t b = 0; b < r->plan->bucket_count; b++) {
            if (open_sum(r, &r->buckets[b], place, err))
                return ddp_wrap(err, "compressed gradients");
        }
    return DDP_OK;
}

void ddp_encoded_sums_close(ddp_encoded_sums *r)
{
    if (!r)
        return;
    for (size_t b = 0; r->buckets && b < r->plan->bucket_count; b++)
        for (int place = 0; place < PLACES; place++)
            ddp_work_close(r->buckets[b].sums[place]);
    ddp_group_free_memory(r->group, r->table->device, r->memory);
    ddp_device_queue_close(r->queue);
    free(r->numbers);
    free(r->buckets);
    free(r);
}

/* ---- a pass ---- */

static int is_in(const ddp_encoded_sums *r, size_t i, size_t bucket)
{
    return r->table->params[i].layer >= r->table->first_trained
           && r->plan->places[i].bucket == bucket;
}

void ddp_encoded_sums_begin_pass(ddp_encoded_sums *r)
{
    r->firsts = 0;
    r->seconds = 0;
}

int ddp_encoded_sums_may_start_first(const ddp_encoded_sums *r)
{
    return r->firsts - r->seconds < 2;
}

static float *gradient_of(const ddp_encoded_sums *r, size_t i)
{
    return r->gradients + r->plan->places[i].offset;
}

static ddp_codec_param codec_param_of(const ddp_encoded_sums *r, size_t i)
{
    const struct bucket *bucket = &r->buckets[r->plan->places[i].bucket];
    const struct numbers *numbers = &r->numbers[i];

    return (ddp_codec_param){
        .param = i,
        .gradient = gradient_of(r, i),
        .numbers = {bucket->memory[place_of(r, ROUND_0)] + numbers->at[ROUND_0],
                    numbers->count[ROUND_1] ? bucket->memory[SECOND] + numbers->at[ROUND_1] : NULL},
        .stride = r->gathers ? bucket->count[SECOND] : 0};
}

static void encode_gradient(ddp_encoded_sums *r, size_t i, float *first)
{
    const struct numbers *numbers = &r->numbers[i];
    ddp_codec_param p = codec_param_of(r, i);

    if (numbers->is_plain)
        ddp_device_copy(r->queue, first + numbers->plain, p.gradient, r->table->params[i].count);
    else
        r->codec->encode(r->self, &p, ROUND_0, r->queue);
}

ddp_status ddp_encoded_sums_start_first(ddp_encoded_sums *r, size_t b, ddp_error *err)
{
    const ddp_bucket *planned = &r->plan->buckets[b];
    struct bucket *bucket = &r->buckets[b];

    r->firsts++;
    bucket->skipped = 0;
    ddp_device_follow(r->queue, r->table->device);
    ddp_device_copy(r->queue, bucket->memory[FIRST], r->gradients + planned->counts,
                    planned->param_count);
    for (size_t i = 0; i < r->table->param_count; i++)
        if (is_in(r, i, b))
            encode_gradient(r, i, bucket->memory[FIRST]);
    if (ddp_work_start_behind(bucket->sums[FIRST], r->queue, err))
        return err->code;
    return r->gathers ? ddp_work_start_behind(bucket->sums[SECOND], r->queue, err) : DDP_OK;
}

void ddp_encoded_sums_skip_bucket(ddp_encoded_sums *r, size_t b)
{
    r->firsts++;
    r->buckets[b].skipped = 1;
}

size_t ddp_encoded_sums_next_second(const ddp_encoded_sums *r)
{
    return r->seconds;
}

/* Second sums come one bucket behind the first ones, but for the last. */
static int is_its_turn(const ddp_encoded_sums *r)
{
    return r->seconds < r->firsts
           && (r->seconds + 1 < r->firsts || r->firsts == r->plan->bucket_count);
}

/* Is there a sum to start when the first has arrived? An all-gather has started with the first. */
static int has_second(const ddp_encoded_sums *r, const struct bucket *bucket)
{
    return bucket->count[SECOND] > 0 && !bucket->skipped && !r->gathers;
}

int ddp_encoded_sums_may_start_second(const ddp_encoded_sums *r)
{
    const struct bucket *bucket = &r->buckets[r->seconds];

    return is_its_turn(r)
           && (!has_second(r, bucket) || !ddp_work_fence_blocks(bucket->sums[FIRST]));
}

ddp_status ddp_encoded_sums_start_second(ddp_encoded_sums *r, ddp_error *err)
{
    size_t b = r->seconds++;
    struct bucket *bucket = &r->buckets[b];

    if (!has_second(r, bucket))
        return DDP_OK;
    if (ddp_work_fence_before(bucket->sums[FIRST], r->queue, err))
        return err->code;
    for (size_t i = 0; i < r->table->param_count; i++)
        if (is_in(r, i, b) && r->numbers[i].count[ROUND_1] > 0) {
            ddp_codec_param p = codec_param_of(r, i);

            r->codec->encode(r->self, &p, ROUND_1, r->queue);
        }
    return ddp_work_start_behind(bucket->sums[SECOND], r->queue, err);
}

ddp_work *ddp_encoded_sums_last_sum(const ddp_encoded_sums *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return bucket->count[SECOND] ? bucket->sums[SECOND] : bucket->sums[FIRST];
}

/* An all-gather travels beside the first sum; a second sum has started behind its fence. */
ddp_status ddp_encoded_sums_fence_bucket(ddp_encoded_sums *r, size_t b, ddp_error *err)
{
    ddp_work *first = r->buckets[b].sums[FIRST];

    if (r->gathers && ddp_work_fence(first, err))
        return err->code;
    return !r->gathers || r->buckets[b].count[SECOND] > 0
               ? ddp_work_fence(ddp_encoded_sums_last_sum(r, b), err)
               : DDP_OK;
}

int ddp_encoded_sums_done(const ddp_encoded_sums *r, size_t b)
{
    return b < r->seconds && ddp_work_done(ddp_encoded_sums_last_sum(r, b))
           && (!r->gathers || ddp_work_done(r->buckets[b].sums[FIRST]));
}

int ddp_encoded_sums_finite(const ddp_encoded_sums *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return ddp_work_finite(bucket->sums[FIRST])
           && (!bucket->count[SECOND] || ddp_work_finite(bucket->sums[SECOND]));
}

/* ---- what has arrived ---- */

void ddp_encoded_sums_decode_param(ddp_encoded_sums *r, size_t i)
{
    const ddp_place *place = &r->plan->places[i];
    const float *first = r->buckets[place->bucket].memory[FIRST], *ran = first + place->nth;
    ddp_device *d = r->table->device;
    ddp_codec_param p = codec_param_of(r, i);

    ddp_device_copy(d, r->gradients + r->plan->buckets[place->bucket].counts + place->nth, ran, 1);
    if (r->numbers[i].is_plain)
        ddp_device_copy(d, p.gradient, first + r->numbers[i].plain, r->table->params[i].count);
    else
        r->codec->decode(r->self, &p, ran, d, r->queue);
}

size_t ddp_encoded_sums_floats(const ddp_encoded_sums *r, size_t b)
{
    const struct bucket *bucket = &r->buckets[b];

    return bucket->count[FIRST] + bucket->count[SECOND];
}

ddp_status ddp_encoded_sums_open(ddp_encoded_sums **out, ddp_group *group,
                                 const ddp_param_table *table, const ddp_bucket_plan *plan,
                                 float *gradients, const ddp_gradient_codec *codec, void *self,
                                 ddp_error *err)
{
    ddp_encoded_sums *r = calloc(1, sizeof *r);
    ddp_status st = DDP_OK;

    *out = NULL;
    if (!r)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for compressed gradients");
    *r = (ddp_encoded_sums){.group = group,
                            .table = table,
                            .plan = plan,
                            .gradients = gradients,
                            .codec = codec,
                            .self = self,
                            .gathers = codec->gathers && codec->gathers(self)};
    r->numbers = calloc(table->param_count + 1, sizeof *r->numbers);
    r->buckets = calloc(plan->bucket_count + 1, sizeof *r->buckets);
    if (!r->numbers || !r->buckets)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for compressed gradients of %zu buckets",
                      plan->bucket_count);
    if (!st)
        st = ddp_device_queue_open(&r->queue, table->device, err);
    if (!st)
        st = open_sums(r, err);
    if (st) {
        ddp_encoded_sums_close(r);
        return st;
    }
    *out = r;
    return DDP_OK;
}
