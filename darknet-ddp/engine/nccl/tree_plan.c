#include "nccl/tree_plan.h"

#include "comm/schedule_cost.h"
#include "comm/work.h"
#include "device/sum.h"

#include <stdlib.h>
#include <string.h>

/* ---- which addends come together ---- */

static int by_rank(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The nodes that make up these ranks are addends of the level. */
static void add_nodes(struct ddp_nccl_level *level, int size, struct ddp_span ranks)
{
    level->addend_count +=
        ddp_sum_nodes(size, ranks.begin, ranks.end, level->first_ranks + level->addend_count);
}

static void find_addends(const struct ddp_nccl_plan *p, int size, int l)
{
    struct ddp_nccl_level *level = &p->levels[l];
    const struct ddp_stage *stage = l > 0 ? &p->route->stage[l - 1] : NULL;

    if (!stage) {
        for (int r = 0; r < p->local_size; r++)
            level->first_ranks[level->addend_count++] = p->first_local + r;
        return;
    }
    add_nodes(level, size, stage->ranks);
    for (int t = 0; t < stage->transfer_count; t++)
        if (stage->transfers[t].incoming && stage->transfers[t].held == 0)
            add_nodes(level, size, stage->transfers[t].ranks);
    qsort(level->first_ranks, (size_t)level->addend_count, sizeof *level->first_ranks, by_rank);
}

/* No more than the ranks themselves. */
static ddp_status open_level(const struct ddp_nccl_plan *p, int size, int l, int most_addends,
                             ddp_error *err)
{
    struct ddp_nccl_level *level = &p->levels[l];
    const struct ddp_stage *stage = &p->route->stage[l];

    level->slices = l > 0 ? stage->held : &p->lane;
    level->slice_count = l > 0 ? stage->held_count : 1;
    level->first_ranks = calloc((size_t)size, sizeof *level->first_ranks);
    level->additions = calloc((size_t)size, sizeof *level->additions);
    if (!level->first_ranks || !level->additions)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    find_addends(p, size, l);
    if (most_addends && level->addend_count > most_addends)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "%d ranks are too many for direct sums on GPUs, which add up to %d: sum them "
            "by levels",
            size, most_addends);
    level->sum_count = ddp_sum_stack(size, level->first_ranks, level->addend_count,
                                     stage->ranks.end, level->additions);
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
                              int rank, int radix, int most_addends, ddp_error *err)
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
        st = open_level(p, size, l, most_addends, err);
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
        free(p->levels[l].first_ranks);
        free(p->levels[l].additions);
    }
    free(p->levels);
    ddp_hierarchical_plan_close(p->route);
    free(p);
}

/* ---- where it lies ---- */

struct ddp_slice ddp_nccl_plan_slice(const struct ddp_nccl_plan *p, size_t count, int l, int i)
{
    return ddp_hierarchical_plan_slice(p->route, count, p->levels[l].slices[i]);
}

/* Elements of the level's slices that stand before slice i; of all for i = slice_count. */
static size_t elements_before(const struct ddp_nccl_plan *p, size_t count, int l, int i)
{
    size_t sum = 0;

    for (int k = 0; k < i; k++)
        sum += ddp_nccl_plan_slice(p, count, l, k).count;
    return sum;
}

/* One addend is where it is: nothing comes together. */
static size_t addends_count(const struct ddp_nccl_plan *p, size_t count, int l)
{
    const struct ddp_nccl_level *level = &p->levels[l];

    return level->addend_count == 1
               ? 0
               : (size_t)level->addend_count * elements_before(p, count, l, level->slice_count);
}

static size_t level_count(const struct ddp_nccl_plan *p, size_t count, int l)
{
    const struct ddp_nccl_level *level = &p->levels[l];
    size_t own = elements_before(p, count, l, level->slice_count);

    return addends_count(p, count, l)
           + (level->sum_count == 1 ? 0 : (size_t)level->sum_count * own);
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

size_t ddp_nccl_plan_addend(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k)
{
    return scratch_before(p, count, l)
           + (size_t)p->levels[l].addend_count * elements_before(p, count, l, i)
           + (size_t)k * ddp_nccl_plan_slice(p, count, l, i).count;
}

size_t ddp_nccl_plan_sum(const struct ddp_nccl_plan *p, size_t count, int l, int i, int k)
{
    return scratch_before(p, count, l) + addends_count(p, count, l)
           + (size_t)p->levels[l].sum_count * elements_before(p, count, l, i)
           + (size_t)k * ddp_nccl_plan_slice(p, count, l, i).count;
}

int ddp_nccl_level_addend(const struct ddp_nccl_level *level, int rank)
{
    int part = 0;

    while (level->first_ranks[part] != rank)
        part++;
    return part;
}

ddp_status ddp_nccl_plan_share(const struct ddp_nccl_plan *p, size_t count, ddp_range **ranges,
                               size_t *range_count, ddp_error *err)
{
    int top = p->route->stages, slices = p->levels[top].slice_count;

    *range_count = 0;
    *ranges = calloc((size_t)slices + 1, sizeof **ranges);
    if (!*ranges)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a rank's share of %zu floats", count);
    for (int i = 0; i < slices; i++) {
        struct ddp_slice slice = ddp_nccl_plan_slice(p, count, top, i);

        if (slice.count)
            (*ranges)[(*range_count)++] = (ddp_range){slice.begin, slice.begin + slice.count};
    }
    return DDP_OK;
}
