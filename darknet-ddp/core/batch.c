#include "core/batch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* Values that would work, for the end of a refusal: "a, b or c would work". */
struct advice {
    char items[4][40];
    int count;
};

static void advise(struct advice *a, const char *name, int64_t value)
{
    (void)snprintf(a->items[a->count++], sizeof a->items[0], "%s%" PRId64, name, value);
}

static void advice_text(const struct advice *a, char *text, size_t size)
{
    int used = 0;

    for (int i = 0; i < a->count; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%s",
                         i == 0              ? ""
                         : i == a->count - 1 ? " or "
                                             : ", ",
                         a->items[i]);
}

static int greatest_common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Batches work that are multiples of both subdivisions and ranks: the mini-batches
 * can then be cut down to one image if need be. */
static void advise_batches(struct advice *a, int batch, int subdivisions, int ranks)
{
    int64_t step = (int64_t)subdivisions / greatest_common_divisor(subdivisions, ranks) * ranks;
    int64_t below = batch / step * step;

    if (below > 0)
        advise(a, "batch=", below);
    advise(a, "batch=", below + step);
}

static ddp_status refuse_rest(int batch, int subdivisions, int ranks, ddp_error *err)
{
    struct advice a = {.count = 0};
    int below = subdivisions, above = subdivisions;
    char text[sizeof a.items + 16];

    advise_batches(&a, batch, subdivisions, ranks);
    if (batch % ranks == 0) {
        while (batch % below)
            below--;
        advise(&a, "subdivisions=", below);
        while (above < batch && batch % above)
            above++;
        if (above <= batch)
            advise(&a, "subdivisions=", above);
    }
    advice_text(&a, text, sizeof text);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d is no multiple of subdivisions=%d: %d of its images would be left "
                    "out of every step; %s would work",
                    batch, subdivisions, batch % subdivisions, text);
}

static ddp_status refuse_ranks(int batch, int subdivisions, int ranks, ddp_error *err)
{
    struct advice a = {.count = 0};
    char text[sizeof a.items + 16];

    advise_batches(&a, batch, subdivisions, ranks);
    (void)snprintf(a.items[a.count++], sizeof a.items[0], "-ddp_batch rank");
    advice_text(&a, text, sizeof text);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d cannot be cut evenly over %d ranks; %s would work", batch, ranks,
                    text);
}

static ddp_status split_rank(ddp_batch *out, int batch, int subdivisions, int ranks, ddp_error *err)
{
    if (batch % subdivisions)
        return refuse_rest(batch, subdivisions, 1, err);
    if (batch > INT_MAX / ranks)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "batch=%d on each of %d ranks is more than %d images a step", batch, ranks,
                        INT_MAX);
    *out = (ddp_batch){.batch = batch * ranks,
                       .subdivisions = subdivisions * ranks,
                       .per_rank = subdivisions,
                       .images = batch / subdivisions};
    return DDP_OK;
}

static ddp_status split_global(ddp_batch *out, int batch, int subdivisions, int ranks,
                               ddp_error *err)
{
    /* The fewest parts of a mini-batch that make their number a multiple of ranks. */
    int parts = ranks / greatest_common_divisor(subdivisions, ranks);

    if (batch % subdivisions)
        return refuse_rest(batch, subdivisions, ranks, err);
    if (batch % ranks)
        return refuse_ranks(batch, subdivisions, ranks, err);
    *out = (ddp_batch){.batch = batch,
                       .subdivisions = subdivisions * parts,
                       .per_rank = subdivisions * parts / ranks,
                       .images = batch / subdivisions / parts,
                       .resplit = parts > 1};
    return DDP_OK;
}

ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, ddp_error *err)
{
    *out = (ddp_batch){0};
    if (batch < 1 || subdivisions < 1)
        return ddp_fail(err, DDP_ERR_USAGE, "batch=%d subdivisions=%d: both must be at least 1",
                        batch, subdivisions);
    if (mode == DDP_BATCH_RANK)
        return split_rank(out, batch, subdivisions, ranks, err);
    return split_global(out, batch, subdivisions, ranks, err);
}
