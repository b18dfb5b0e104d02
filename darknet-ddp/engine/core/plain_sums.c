#include "core/plain_sums.h"

#include "comm/work.h"

#include <stdlib.h>

struct plain {
    ddp_sums base; /* first */
    ddp_plain_of of;
    ddp_work **sums; /* of each piece */
};

static struct plain *plain_of(const ddp_sums *s)
{
    return (struct plain *)s;
}

static void close_plain(ddp_sums *s)
{
    struct plain *p = plain_of(s);

    for (size_t i = 0; p->sums && i < p->of.piece_count; i++)
        ddp_work_close(p->sums[i]);
    free(p->sums);
    free(p);
}

ddp_work *const *ddp_plain_sums_all(const ddp_sums *s)
{
    return plain_of(s)->sums;
}

static ddp_status start(ddp_sums *s, size_t piece, ddp_error *err)
{
    struct plain *p = plain_of(s);

    return p->of.halves ? ddp_work_start_phase(p->sums[piece], DDP_REDUCE_SCATTER, err)
                        : ddp_work_start(p->sums[piece], err);
}

static ddp_work *last(const ddp_sums *s, size_t piece)
{
    return plain_of(s)->sums[piece];
}

static ddp_status fence(ddp_sums *s, size_t piece, ddp_error *err)
{
    return ddp_work_fence(plain_of(s)->sums[piece], err);
}

static int is_done(const ddp_sums *s, size_t piece)
{
    return ddp_work_done(plain_of(s)->sums[piece]);
}

static int is_finite(const ddp_sums *s, size_t piece)
{
    return ddp_work_finite(plain_of(s)->sums[piece]);
}

static size_t count(const ddp_sums *s, size_t bucket)
{
    return plain_of(s)->of.plan->buckets[bucket].count;
}

static const ddp_sums_ops ops = {.close = close_plain,
                                 .start = start,
                                 .last = last,
                                 .fence = fence,
                                 .is_done = is_done,
                                 .is_finite = is_finite,
                                 .count = count};

static ddp_status open_sum(struct plain *p, size_t i, ddp_error *err)
{
    const ddp_piece *piece = &p->of.pieces[i];
    size_t gradients = p->of.plan->buckets[piece->bucket].counts - piece->offset;

    return ddp_allreduce_open_on(&p->sums[i], p->of.group, p->of.device,
                                 p->of.memory + piece->offset,
                                 p->of.halves ? gradients : piece->count, p->of.wire, err);
}

ddp_status ddp_plain_sums_open(ddp_sums **out, const ddp_plain_of *of, ddp_error *err)
{
    struct plain *p = calloc(1, sizeof *p);

    *out = NULL;
    if (p)
        p->sums = calloc(of->piece_count + 1, sizeof *p->sums);
    if (!p || !p->sums) {
        free(p);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu sums", of->piece_count);
    }
    p->base.ops = &ops;
    p->of = *of;
    for (size_t i = 0; i < of->piece_count; i++)
        if (open_sum(p, i, err)) {
            close_plain(&p->base);
            return err->code;
        }
    *out = &p->base;
    return DDP_OK;
}
