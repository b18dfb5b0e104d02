#include "algorithms/zero1/shard.h"

#include "base/huge_pages.h"
#include "comm/collectives.h"
#include "comm/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ddp_shard {
    ddp_shard_of of;
    ddp_range **ranges; /* by bucket: this rank's, from the bucket's start */
    size_t *range_count;
    ddp_sharded_range *parts; /* by parameter */
    size_t part_count;
    size_t *first_part; /* param_count + 1 entries: parts[first[i] .. first[i + 1]) */
    float *memory;      /* moments of all parts */
    size_t count;       /* of its floats */
    ddp_sharded *moments;
    int has_taken; /* the framework has none any more */
};

/* ---- which elements ---- */

static int is_planned(const ddp_shard *s, size_t i)
{
    return s->of.table->params[i].layer >= s->of.table->first_trained;
}

static int moments_of(const ddp_shard *s, size_t i)
{
    return ddp_moments_trained(s->of.table, &s->of.table->params[i]);
}

static ddp_device *device_of(const ddp_shard *s)
{
    return s->of.table->device;
}

/* The framework's moment k of a parameter, on the host. */
static float *on_host(const ddp_shard *s, const ddp_param *param, int k)
{
    return ddp_device_is_host(device_of(s)) ? param->optimizer.buffer[k] : param->optimizer.host[k];
}

static float *gradient_of(const ddp_shard *s, size_t i)
{
    return s->of.memory + s->of.plan->places[i].offset;
}

/* Return the elements of parameter i that lie in a range of its bucket. If there are none, begin is
 * not below end. */
static ddp_range overlap(const ddp_shard *s, size_t i, ddp_range range)
{
    const ddp_place *place = &s->of.plan->places[i];
    size_t at = place->offset - s->of.plan->buckets[place->bucket].offset;
    size_t count = s->of.table->params[i].count;
    size_t begin = range.begin > at ? range.begin - at : 0;
    size_t end = range.end > at ? range.end - at : 0;

    return (ddp_range){begin, end < count ? end : count};
}

/* The parts of parameter i, to s->parts unless it is NULL. */
static void find_parts(ddp_shard *s, size_t i)
{
    size_t b = s->of.plan->places[i].bucket;

    for (size_t k = 0; k < s->range_count[b]; k++) {
        ddp_range r = overlap(s, i, s->ranges[b][k]);

        if (r.begin >= r.end)
            continue;
        if (s->parts)
            s->parts[s->part_count] =
                (ddp_sharded_range){.param = i, .begin = r.begin, .end = r.end};
        s->part_count++;
        s->count += (r.end - r.begin) * (size_t)moments_of(s, i);
    }
}

static void find_all_parts(ddp_shard *s)
{
    s->part_count = 0;
    s->count = 0;
    for (size_t i = 0; i < s->of.table->param_count; i++) {
        s->first_part[i] = s->part_count;
        if (is_planned(s, i))
            find_parts(s, i);
    }
    s->first_part[s->of.table->param_count] = s->part_count;
}

static void place_moments(ddp_shard *s)
{
    float *at = s->memory;

    for (size_t p = 0; p < s->part_count; p++)
        for (int k = 0; k < moments_of(s, s->parts[p].param); k++) {
            s->parts[p].moments[k] = at;
            at += s->parts[p].end - s->parts[p].begin;
        }
}

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a share of the optimizer's state");
}

static ddp_status find_shares(ddp_shard *s, ddp_error *err)
{
    size_t buckets = s->of.plan->bucket_count;

    s->ranges = calloc(buckets + 1, sizeof *s->ranges);
    s->range_count = calloc(buckets + 1, sizeof *s->range_count);
    s->first_part = calloc(s->of.table->param_count + 1, sizeof *s->first_part);
    if (!s->ranges || !s->range_count || !s->first_part)
        return no_memory(err);
    for (size_t b = 0; b < buckets; b++)
        if (ddp_work_share(s->of.sums[b], &s->ranges[b], &s->range_count[b], err))
            return err->code;
    find_all_parts(s);
    s->parts = calloc(s->part_count + 1, sizeof *s->parts);
    if (!s->parts || ddp_device_alloc(device_of(s), &s->memory, s->count, err))
        return no_memory(err);
    find_all_parts(s);
    place_moments(s);
    return DDP_OK;
}

/* ---- moments from the framework and back ---- */

static int any(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0 || signbit(x[i]))
            return 1;
    return 0;
}

/* Has the root moments that a run goes on with? */
static ddp_status has_moments(const ddp_shard *s, int *yes, ddp_error *err)
{
    const ddp_param_table *table = s->of.table;

    *yes = s->of.saved_moments != NULL;
    for (size_t i = 0; i < table->param_count && !*yes && ddp_group_rank(s->of.group) == s->of.root;
         i++)
        for (int k = 0; k < moments_of(s, i); k++)
            *yes |= any(on_host(s, &table->params[i], k), table->params[i].count);
    return ddp_broadcast(s->of.group, yes, sizeof *yes, s->of.root, err);
}

static ddp_status read_frameworks(void *ctx, const ddp_sharded_block *b, float *x, ddp_error *err)
{
    const ddp_shard *s = ctx;

    (void)err;
    memcpy(x, on_host(s, &s->of.table->params[b->param], b->moment) + b->at, b->count * sizeof *x);
    return DDP_OK;
}

/* Open the moments, and hand out to ranks those that the run begins with. */
static ddp_status hand_out(ddp_shard *s, ddp_error *err)
{
    const ddp_sharded_config of = {s->of.group, s->of.table, s->parts, s->first_part};
    const ddp_sharded_source frameworks = {read_frameworks, s};
    int yes;

    if (ddp_sharded_open(&s->moments, &of, err) || has_moments(s, &yes, err))
        return err->code;
    return yes ? ddp_sharded_hand_out_moments(
               s->moments, s->of.root, s->of.saved_moments ? s->of.saved_moments : &frameworks, err)
               : DDP_OK;
}

/* ---- the framework's memory of a GPU's moments ---- */

static void pull_all(const ddp_shard *s)
{
    const ddp_param_table *table = s->of.table;

    for (size_t i = 0; i < table->param_count; i++)
        for (int k = 0; k < moments_of(s, i); k++)
            ddp_device_pull(device_of(s), table->params[i].optimizer.host[k],
                            table->params[i].optimizer.buffer[k], table->params[i].count);
}

static void free_all(const ddp_shard *s)
{
    const ddp_param_table *table = s->of.table;

    for (size_t i = 0; i < table->param_count; i++)
        for (int k = 0; k < moments_of(s, i); k++) {
            ddp_device_free(device_of(s), *table->params[i].optimizer.slot[k]);
            *table->params[i].optimizer.slot[k] = NULL;
        }
}

/* Empty the framework's moments on the host. */
static void empty_frameworks_moments(const ddp_shard *s)
{
    const ddp_param_table *table = s->of.table;

    for (size_t i = 0; i < table->param_count; i++)
        for (int k = 0; k < moments_of(s, i); k++)
            ddp_pages_clear(on_host(s, &table->params[i], k),
                            table->params[i].count * sizeof(float));
}

static void get_all_again(const ddp_shard *s)
{
    const ddp_param_table *table = s->of.table;
    ddp_error ignored;

    for (size_t i = 0; i < table->param_count; i++)
        for (int k = 0; k < moments_of(s, i); k++) {
            float **slot = table->params[i].optimizer.slot[k];

            if (ddp_device_alloc(device_of(s), slot, table->params[i].count, &ignored))
                *slot = NULL;
        }
}

ddp_status ddp_shard_open(ddp_shard **out, const ddp_shard_of *of, ddp_error *err)
{
    ddp_shard *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return no_memory(err);
    s->of = *of;
    if (!ddp_device_is_host(device_of(s)) && ddp_group_rank(of->group) == of->root
        && !of->saved_moments)
        pull_all(s);
    if (find_shares(s, err) || hand_out(s, err)) {
        ddp_shard_close(s);
        return err->code;
    }
    empty_frameworks_moments(s);
    if (!ddp_device_is_host(device_of(s)))
        free_all(s);
    s->has_taken = 1;
    *out = s;
    return DDP_OK;
}

void ddp_shard_close(ddp_shard *s)
{
    if (!s)
        return;
    for (size_t b = 0; s->ranges && b < s->of.plan->bucket_count; b++)
        free(s->ranges[b]);
    ddp_sharded_close(s->moments);
    free(s->ranges);
    free(s->range_count);
    free(s->parts);
    free(s->first_part);
    ddp_device_free(device_of(s), s->memory);
    if (s->has_taken && !ddp_device_is_host(device_of(s)))
        get_all_again(s);
    free(s);
}

ddp_sharded *ddp_shard_moments(const ddp_shard *s)
{
    return s->moments;
}

/* ---- a step ---- */

const ddp_sharded_range *ddp_shard_ranges(const ddp_shard *s, const float *gradient, size_t *count)
{
    for (size_t i = 0; i < s->of.table->param_count; i++) {
        if (!is_planned(s, i) || gradient_of(s, i) != gradient)
            continue;
        *count = s->first_part[i + 1] - s->first_part[i];
        return s->parts + s->first_part[i];
    }
    *count = 0;
    return NULL;
}

void ddp_shard_publish_bucket(const ddp_shard *s, size_t b)
{
    const float no_number = NAN;

    for (size_t p = 0; p < s->part_count; p++) {
        const ddp_sharded_range *part = &s->parts[p];

        if (s->of.plan->places[part->param].bucket == b)
            ddp_device_copy(device_of(s), gradient_of(s, part->param) + part->begin,
                            s->of.table->params[part->param].value + part->begin,
                            part->end - part->begin);
    }
    if (ddp_work_finite(s->of.sums[b]))
        return;
    for (size_t k = 0; k < s->range_count[b]; k++)
        ddp_device_set(device_of(s),
                       s->of.memory + s->of.plan->buckets[b].offset + s->ranges[b][k].begin,
                       &no_number, 1);
}

void ddp_shard_take_parameter(const ddp_shard *s, size_t i)
{
    const ddp_param *param = &s->of.table->params[i];
    float *gradient = gradient_of(s, i);

    ddp_device_copy(device_of(s), param->value, gradient, param->count);
    ddp_device_zero(device_of(s), gradient, param->count);
}

ddp_shard_size ddp_shard_bytes(const ddp_shard *s)
{
    ddp_shard_size size = {.own = s->count * sizeof(float)};

    for (size_t i = 0; i < s->of.table->param_count; i++)
        size.all += s->of.table->params[i].count * (size_t)moments_of(s, i) * sizeof(float);
    return size;
}
