#include "core/batch.h"

/* The multiples of step on both sides of value; the lower one is at least step. */
static void neighbours(int value, int step, int *below, int *above)
{
    *below = value / step * step;
    *above = *below + step;
    if (*below == 0)
        *below = step;
}

static ddp_status refuse_rest(int batch, int subdivisions, ddp_error *err)
{
    int down, up;
    int below = subdivisions, above = subdivisions;

    while (batch % below)
        below--;
    while (above < batch && batch % above)
        above++;
    neighbours(batch, subdivisions, &down, &up);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d is no multiple of subdivisions=%d, so %d images would be left out of "
                    "every step; batch=%d or batch=%d would work, and so would subdivisions=%d or "
                    "subdivisions=%d",
                    batch, subdivisions, batch % subdivisions, down, up, below,
                    above <= batch ? above : batch);
}

/* The fewest equal parts of a mini-batch of `images` that make subdivisions * parts
 * a multiple of ranks; 0 if there are none. */
static int parts_needed(int images, int subdivisions, int ranks)
{
    for (int parts = 1; parts <= images; parts++)
        if (images % parts == 0 && subdivisions * parts % ranks == 0)
            return parts;
    return 0;
}

/* The nearest batches on both sides that can be cut over the ranks; the lower
 * one is the upper one where there is none. images is a multiple of ranks at
 * the latest, so the search upwards ends. */
static void nearest_that_cut(int batch, int subdivisions, int ranks, int *down, int *up)
{
    *up = batch;
    while (!parts_needed(*up / subdivisions, subdivisions, ranks))
        *up += subdivisions;
    *down = batch;
    while (*down > 0 && !parts_needed(*down / subdivisions, subdivisions, ranks))
        *down -= subdivisions;
    if (*down <= 0)
        *down = *up;
}

ddp_status ddp_batch_split(ddp_batch *out, int batch, int subdivisions, int ranks,
                           ddp_batch_mode mode, ddp_error *err)
{
    int parts, down, up;

    *out = (ddp_batch){0};
    if (batch < 1 || subdivisions < 1)
        return ddp_fail(err, DDP_ERR_USAGE, "batch=%d subdivisions=%d: both must be at least 1",
                        batch, subdivisions);
    if (batch % subdivisions)
        return refuse_rest(batch, subdivisions, err);
    if (mode == DDP_BATCH_RANK) {
        *out = (ddp_batch){.batch = batch * ranks,
                           .subdivisions = subdivisions * ranks,
                           .per_rank = subdivisions,
                           .images = batch / subdivisions};
        return DDP_OK;
    }
    parts = parts_needed(batch / subdivisions, subdivisions, ranks);
    if (parts == 0) {
        nearest_that_cut(batch, subdivisions, ranks, &down, &up);
        return ddp_fail(err, DDP_ERR_USAGE,
                        "batch=%d cannot be cut evenly over %d ranks; batch=%d or batch=%d would "
                        "work, and so would -ddp_batch rank, which gives every rank the whole batch",
                        batch, ranks, down, up);
    }
    *out = (ddp_batch){.batch = batch,
                       .subdivisions = subdivisions * parts,
                       .per_rank = subdivisions * parts / ranks,
                       .images = batch / subdivisions / parts,
                       .resplit = parts > 1};
    return DDP_OK;
}
