#include "bench/tune.h"

#include "comm/chunk_sizes.h"

#include <stdlib.h>

static const double bucket_mb[] = {1, 2, 4, 8, 25}, first_bucket_mb[] = {.25, 1, 4},
                    defer_mb[] = {0, 16, 32, 64};
static const double worth_a_trial = .99;

enum {
    BUCKETS = sizeof bucket_mb / sizeof *bucket_mb,
    FIRST_BUCKETS = sizeof first_bucket_mb / sizeof *first_bucket_mb,
    DEFERS = sizeof defer_mb / sizeof *defer_mb
};

struct candidate {
    ddp_tuning tuning;
    double step_s;
};

static ddp_status predict(struct candidate *c, const ddp_tune_config *config, ddp_error *err)
{
    const double mib = 1 << 20;
    ddp_predict_config p = config->predict;
    ddp_prediction prediction = {0};
    ddp_plan *plan;
    ddp_status st = ddp_plan_open(&plan, config->table, (size_t)(c->tuning.bucket_mb * mib),
                                  (size_t)(c->tuning.first_bucket_mb * mib), err);

    if (st)
        return st;
    p.plan = plan;
    p.order = ddp_launch_order_of(plan, (size_t)(c->tuning.defer_mb * mib));
    p.priority = c->tuning.priority;
    st = ddp_predict(&prediction, &p, err);
    c->step_s = prediction.step;
    ddp_plan_close(plan);
    return st;
}

/* The n-th of all combinations, with what must stay as it is. */
static ddp_tuning nth(const ddp_tune_config *c, int n)
{
    ddp_tuning t = {.bucket_mb = bucket_mb[n % BUCKETS],
                    .first_bucket_mb = first_bucket_mb[n / BUCKETS % FIRST_BUCKETS],
                    .defer_mb = defer_mb[n / BUCKETS / FIRST_BUCKETS % DEFERS],
                    .priority = n / BUCKETS / FIRST_BUCKETS / DEFERS};

    if (c->keep_bucket)
        t.bucket_mb = c->as_is.bucket_mb;
    if (c->keep_first_bucket)
        t.first_bucket_mb = c->as_is.first_bucket_mb;
    if (c->keep_defer)
        t.defer_mb = c->as_is.defer_mb;
    if (c->keep_priority)
        t.priority = c->as_is.priority;
    return t;
}

/* Keep the best few. One that is no faster than others is one more way to do the same. */
static void consider(struct candidate *best, size_t *count, const struct candidate *c)
{
    size_t at = *count;

    while (at > 0 && c->step_s < best[at - 1].step_s)
        at--;
    if ((at > 0 && c->step_s <= best[at - 1].step_s) || at == DDP_TUNE_TRIED)
        return;
    if (*count < DDP_TUNE_TRIED)
        ++*count;
    for (size_t i = *count - 1; i > at; i--)
        best[i] = best[i - 1];
    best[at] = *c;
}

ddp_status ddp_tune_candidates(ddp_tuning *tried, size_t *count, const ddp_tune_config *config,
                               ddp_error *err)
{
    struct candidate best[DDP_TUNE_TRIED], as_is = {.tuning = config->as_is};

    *count = 0;
    if (predict(&as_is, config, err))
        return err->code;
    for (int n = 0; n < 2 * BUCKETS * FIRST_BUCKETS * DEFERS; n++) {
        struct candidate c = {.tuning = nth(config, n)};

        if (predict(&c, config, err))
            return err->code;
        if (c.step_s < worth_a_trial * as_is.step_s)
            consider(best, count, &c);
    }
    for (size_t i = 0; i < *count; i++)
        tried[i] = best[i].tuning;
    return DDP_OK;
}

/* ---- chunks ---- */

static int is_within(const ddp_chunk_limits *limits, ddp_chunks wish)
{
    ddp_chunks c = ddp_chunks_within(limits, wish);

    return wish.window > 0 && c.bytes == wish.bytes && c.window == wish.window;
}

size_t ddp_tune_chunks(ddp_tuning *tried, const ddp_tuning *as_is, const ddp_chunk_limits *limits)
{
    ddp_chunks own = ddp_chunks_within(limits, as_is->chunks);
    const ddp_chunks wishes[DDP_TUNE_CHUNKS_TRIED] = {{own.bytes / 2, own.window * 2},
                                                      {own.bytes * 2, own.window / 2},
                                                      {own.bytes, own.window / 2},
                                                      {own.bytes, own.window * 2}};
    size_t count = 0;

    for (size_t i = 0; i < DDP_TUNE_CHUNKS_TRIED; i++) {
        if (!is_within(limits, wishes[i]))
            continue;
        tried[count] = *as_is;
        tried[count++].chunks = wishes[i];
    }
    return count;
}

/* ---- what trials say ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double ddp_tune_median(double *seconds, size_t count)
{
    if (count == 0)
        return 0;
    qsort(seconds, count, sizeof *seconds, by_value);
    return seconds[count / 2];
}

static int is_always_faster(const double *seconds, const double *as_is)
{
    for (int r = 0; r < DDP_TUNE_ROUNDS; r++)
        if (!(seconds[r] < as_is[r]))
            return 0;
    return 1;
}

size_t ddp_tune_choose(double (*seconds)[DDP_TUNE_ROUNDS], size_t count, double *median_s)
{
    size_t best = 0;

    for (size_t i = 0; i < count; i++) {
        double sorted[DDP_TUNE_ROUNDS];

        for (int r = 0; r < DDP_TUNE_ROUNDS; r++)
            sorted[r] = seconds[i][r];
        median_s[i] = ddp_tune_median(sorted, DDP_TUNE_ROUNDS);
        if (median_s[i] <= (1 - DDP_TUNE_MARGIN) * median_s[0] && median_s[i] < median_s[best]
            && is_always_faster(seconds[i], seconds[0]))
            best = i;
    }
    return best;
}
