#include "nccl/tree_plan.h"

#include "comm/schedule_cost.h"
#include "comm/work.h"
#include "device/sum.h"

#include <stdlib.h>
#include <string.h>

/* ---- which parts come together ---- */

static int by_rank(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The nodes that make up these ranks are parts of the level. */
static void add_parts(struct ddp_nccl_level *level, int size, struct ddp_span ranks)
{
    level->parts += ddp_sum_nodes(size, ranks.begin, ranks.end, level->firsts + level->parts);
}

static void find_parts(const struct ddp_nccl_plan *p, int size, int l)
{
    struct ddp_nccl_level *level = &p->levels[l];
    const struct ddp_stage *stage = l > 0 ? &p->route->stage[l - 1] : NULL;

    if (!stage) {
        for (int r = 0; r < p->local_size; r++)
            level->firsts[level->parts++] = p->first_local + r;
        return;
    }
    add_parts(level, size, stage->ranks);
    for (int t = 0; t < stage->transfer_count; t++)
        if (stage->transfers[t].incoming && stage->transfers[t].held == 0)
            add_parts(level, size, stage->transfers[t].ranks);
    qsort(level->firsts, (size_t)level->parts, sizeof *level->firsts, by_rank);
}

/* No more than the ranks themselves. */
static ddp_status open_level(const struct ddp_nccl_plan *p, int size, int l, int most_parts,
                             ddp_error *err)
{
    struct ddp_nccl_level *level = &p->levels[l];
    const struct ddp_stage *stage = &p->route->stage[l];

    level->pieces = l > 0 ? stage->held : &p->lane;
    level->piece_count = l > 0 ? stage->held_count : 1;
    level->firsts = calloc((size_t)size, sizeof *level->firsts);
    level->additions = calloc((size_t)size, sizeof *level->additions);
    if (!level->firsts || !level->additions)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    find_parts(p, size, l);
    if (most_parts && level->parts > most_parts)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "%d ranks are too many for direct sums on GPUs, which add up to %d: sum them "
            "by levels",
            size, most_parts);
    level->sums =
        ddp_sum_stack(size, level->firsts, level->parts, stage->ranks.end, level->additions);
    return DDP_OK;
}

/* ---- opening ---- */

static ddp_status plan_direct(struct ddp_nccl_plan *p, int size, int rank, ddp_error *err)
{
    struct ddp_rank_hosts alone = {.count = size,
                                   .first = calloc((size_t)size + 1, sizeof *alone.first)};
    ddp_status st;

    if (!alone.first)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    for (int r = 0; r <= size; r++)
        alone.first[r] = r;
    st = ddp_hierarchical_plan_open(&p->route, &alone, rank, size, err);
    free(alone.first);
    p->first_local = rank;
    p->local_size = 1;
    (void)strcpy(p->schedule, "direct");
    return st;
}

static ddp_status plan_levels(struct ddp_nccl_plan *p, const struct ddp_rank_hosts *hosts, int rank,
                              int radix, ddp_error *err)
{
    int host = 0;

    while (rank >= hosts->first[host + 1])
        host++;
    p->first_local = hosts->first[host];
    p->local_size = hosts->first[host + 1] - hosts->first[host];
    ddp_hierarchical_describe(hosts, radix, "", p->schedule, sizeof p->schedule);
    return ddp_hierarchical_plan_open(&p->route, hosts, rank, radix, err);
}

ddp_status ddp_nccl_plan_open(struct ddp_nccl_plan **out, const struct ddp_rank_hosts *hosts,
                              int rank, int radix, int most_parts, ddp_error *err)
{
    struct ddp_nccl_plan *p = calloc(1, sizeof *p);
    int size = hosts->first[hosts->count];
    ddp_status st;

    *out = NULL;
    if (!p)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    st = radix ? plan_levels(p, hosts, rank, radix, err) : plan_direct(p, size, rank, err);
    if (!st) {
        p->lane = p->route->lanes[rank - p->first_local];
        p->levels = calloc((size_t)p->route->stages + 1, sizeof *p->levels);
        if (!p->levels)
            st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    }
    for (int l = 0; !st && l <= p->route->stages; l++)
        st = open_level(p, size, l, most_parts, err);
    if (st)
        ddp_nccl_plan_close(p);
    else
        *out = p;
    return st;
}

void ddp_nccl_plan_close(struct ddp_nccl_plan *p)
{
    if (!p)
        return;
    for (int l = 0; p->levels && l <= p->route->stages; l++) {
        free(p->levels[l].firsts);
        free(p->levels[l].additions);
    }
    free(p->levels);
    ddp_hierarchical_plan_close(p->route);
    free(p);
}

/* ---- where it lies ---- */

struct ddp_nccl_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count,
                                          struct ddp_span units)
{
    size_t begin = ddp_unit_begin(p->route, count, units.begin);

    return (struct ddp_nccl_slice){begin, ddp_unit_begin(p->route, count, units.end) - begin};
}

struct ddp_nccl_slice ddp_nccl_plan_nth(const struct ddp_nccl_plan *p, size_t count, int l, int i)
{
    return ddp_nccl_plan_slice(p, count, p->levels[l].pieces[i]);
}

/* Elements of the level's pieces that stand before piece i; of all for i = piece_count. */
static size_t elements_before(const struct ddp_nccl_plan *p, size_t count, int l, int i)
{
    size_t sum = 0;

    for (int k = 0; k < i; k++)
        sum += ddp_nccl_plan_nth(p, count, l, k).count;
    return sum;
}

/* One part is where it is: nothing comes together. */
static size_t parts_count(const struct ddp_nccl_plan *p, size_t count, int l)
{
    const struct ddp_nccl_level *level = &p->levels[l];

    return level->parts == 1
               ? 0
               : (size_t)level->parts * elements_before(p, count, l, level->piece_count);
}

static size_t level_count(const struct ddp_nccl_plan *p, size_t count, int l)
{
    const struct ddp_nccl_level *level = &p->levels[l];
    size_t own = elements_before(p, count, l, level->piece_count);

    return parts_count(p, count, l) + (level->sums == 1 ? 0 : (size_t)level->sums * own);
}

/* Scratch floats of the levels before l; l = route->stages + 1: of all. */
static size_t scratch_before(const struct ddp_nccl_plan *p, size_t count, int l)
{
    size_t sum = 0;

    for (int k = 0; k < l; k++)
        sum += level_count(p, count, k);
    return sum;
}

size_t ddp_nccl_plan_scratch(const struct ddp_nccl_plan *p, size_t count)
{
    return scratch_before(p, count, p->route->stages + 1);
}

size_t ddp_nccl_plan_part(const struct ddp_nccl_plan *p, size_t count, int l, int i, int part)
{
    return scratch_before(p, count, l)
           + (size_t)p->levels[l].parts * elements_before(p, count, l, i)
           + (size_t)part * ddp_nccl_plan_nth(p, count, l, i).count;
}

size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k)
{
    return scratch_before(p, count, l) + parts_count(p, count, l)
           + (size_t)p->levels[l].sums * elements_before(p, count, l, i)
           + (size_t)k * ddp_nccl_plan_nth(p, count, l, i).count;
}

int ddp_nccl_level_part(const struct ddp_nccl_level *level, int rank)
{
    int part = 0;

    while (level->firsts[part] != rank)
        part++;
    return part;
}

ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err)
{
    int top = p->route->stages, pieces = p->levels[top].piece_count;

    *range_count = 0;
    *ranges = calloc((size_t)pieces + 1, sizeof **ranges);
    if (!*ranges)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a rank's share of %zu floats", count);
    for (int i = 0; i < pieces; i++) {
        struct ddp_nccl_slice piece = ddp_nccl_plan_nth(p, count, top, i);

        if (piece.count)
            (*ranges)[(*range_count)++] = (ddp_range){piece.begin, piece.begin + piece.count};
    }
    return DDP_OK;
}
