/* A sum goes from level to level. At level 0 the parts of the host's ranks come together in each
 * rank's lane, at level s + 1 what stage s of the plan brings. A level's parts lie side by side in
 * scratch memory, this rank's own among them, in the order of ranks, so that one kernel makes the
 * sums of each piece. These sums are one float an element where the ranks summed so far are one
 * branch of the tree, and then lie in the sum's own memory, where the last level's belong; else a
 * few, behind the parts.
 *
 * All is queued on one stream, so a level finds the one before it done. */
#include "comm/nccl_ordered.h"

#include "comm/schedule.h"
#include "device/cuda_kernels.h"
#include "device/sum.h"

#include <stdlib.h>
#include <string.h>

/* What comes together at a level, in each of its pieces, and what it becomes. */
struct level {
    const struct ddp_span *pieces; /* units of the plan */
    int piece_count;
    int parts, sums;          /* nodes of the tree, before and after */
    int *firsts;              /* of each part: its first rank */
    unsigned char *additions; /* as ddp_sum_stack has them */
};

struct ddp_nccl_ordered {
    struct ddp_levels_plan *plan;
    int first_local; /* the host's first rank, as the plan has hosts */
    int local_size;
    struct ddp_span lane; /* this rank's */
    struct level *levels; /* stages + 1 */
    char schedule[128];
};

/* ---- which parts come together ---- */

static int by_rank(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The nodes that make up these ranks are parts of the level. */
static void add_parts(struct level *level, int size, struct ddp_span ranks)
{
    level->parts += ddp_sum_nodes(size, ranks.begin, ranks.end, level->firsts + level->parts);
}

static void find_parts(const struct ddp_nccl_ordered *o, int size, int l)
{
    struct level *level = &o->levels[l];
    const struct ddp_stage *stage = l > 0 ? &o->plan->stage[l - 1] : NULL;

    if (!stage) {
        for (int r = 0; r < o->local_size; r++)
            level->firsts[level->parts++] = o->first_local + r;
        return;
    }
    add_parts(level, size, stage->ranks);
    for (int t = 0; t < stage->transfer_count; t++)
        if (stage->transfers[t].incoming && stage->transfers[t].held == 0)
            add_parts(level, size, stage->transfers[t].ranks);
    qsort(level->firsts, (size_t)level->parts, sizeof *level->firsts, by_rank);
}

/* No more than the ranks themselves. */
static ddp_status open_level(const struct ddp_nccl_ordered *o, int size, int l, ddp_error *err)
{
    struct level *level = &o->levels[l];
    const struct ddp_stage *stage = &o->plan->stage[l];

    level->pieces = l > 0 ? stage->held : &o->lane;
    level->piece_count = l > 0 ? stage->held_count : 1;
    level->firsts = calloc((size_t)size, sizeof *level->firsts);
    level->additions = calloc((size_t)size, sizeof *level->additions);
    if (!level->firsts || !level->additions)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", size);
    find_parts(o, size, l);
    if (level->parts > DDP_CUDA_PARTS)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "%d ranks are too many for direct sums on GPUs, which add up to %d: sum them "
            "by levels",
            size, DDP_CUDA_PARTS);
    level->sums =
        ddp_sum_stack(size, level->firsts, level->parts, stage->ranks.end, level->additions);
    return DDP_OK;
}

/* ---- opening ---- */

static ddp_status plan_direct(struct ddp_nccl_ordered *o, const ddp_group *g, ddp_error *err)
{
    struct ddp_hosts alone = {.count = g->size,
                              .first = calloc((size_t)g->size + 1, sizeof *alone.first)};
    ddp_status st;

    if (!alone.first)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", g->size);
    for (int r = 0; r <= g->size; r++)
        alone.first[r] = r;
    st = ddp_levels_plan_open(&o->plan, &alone, g->rank, g->size, err);
    free(alone.first);
    o->first_local = g->rank;
    o->local_size = 1;
    (void)strcpy(o->schedule, "direct");
    return st;
}

static ddp_status plan_levels(struct ddp_nccl_ordered *o, const ddp_group *g, ddp_error *err)
{
    o->first_local = g->rank - g->local_rank;
    o->local_size = g->local_size;
    ddp_levels_describe(&g->places, g->radix, "", o->schedule, sizeof o->schedule);
    return ddp_levels_plan_open(&o->plan, &g->places, g->rank, g->radix, err);
}

ddp_status ddp_nccl_ordered_open(struct ddp_nccl_ordered **out, ddp_group *g, ddp_error *err)
{
    struct ddp_nccl_ordered *o = calloc(1, sizeof *o);
    ddp_status st;

    *out = NULL;
    if (!o)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", g->size);
    st = g->levels ? plan_levels(o, g, err) : plan_direct(o, g, err);
    if (!st) {
        o->lane = o->plan->lanes[g->rank - o->first_local];
        o->levels = calloc((size_t)o->plan->stages + 1, sizeof *o->levels);
        if (!o->levels)
            st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for sums of %d ranks", g->size);
    }
    for (int l = 0; !st && l <= o->plan->stages; l++)
        st = open_level(o, g->size, l, err);
    if (st)
        ddp_nccl_ordered_close(o);
    else
        *out = o;
    return st;
}

void ddp_nccl_ordered_close(struct ddp_nccl_ordered *o)
{
    if (!o)
        return;
    for (int l = 0; o->levels && l <= o->plan->stages; l++) {
        free(o->levels[l].firsts);
        free(o->levels[l].additions);
    }
    free(o->levels);
    ddp_levels_plan_close(o->plan);
    free(o);
}

const char *ddp_nccl_ordered_schedule(const struct ddp_nccl_ordered *o)
{
    return o->schedule;
}

/* ---- where it lies ---- */

/* A part of a sum: count elements from `begin` on. */
struct piece {
    size_t begin, count;
};

static struct piece piece_of(const struct ddp_nccl_ordered *o, size_t count, struct ddp_span units)
{
    size_t begin = ddp_unit_begin(o->plan, count, units.begin);

    return (struct piece){begin, ddp_unit_begin(o->plan, count, units.end) - begin};
}

/* Elements of the level's pieces that stand before piece i; of all for i = piece_count. */
static size_t elements_before(const struct ddp_nccl_ordered *o, size_t count,
                              const struct level *level, int i)
{
    size_t sum = 0;

    for (int k = 0; k < i; k++)
        sum += piece_of(o, count, level->pieces[k]).count;
    return sum;
}

/* One part is where it is: nothing comes together. */
static size_t parts_count(const struct ddp_nccl_ordered *o, size_t count, const struct level *level)
{
    return level->parts == 1
               ? 0
               : (size_t)level->parts * elements_before(o, count, level, level->piece_count);
}

static size_t level_count(const struct ddp_nccl_ordered *o, size_t count, const struct level *level)
{
    size_t own = elements_before(o, count, level, level->piece_count);

    return parts_count(o, count, level) + (level->sums == 1 ? 0 : (size_t)level->sums * own);
}

size_t ddp_nccl_ordered_scratch(const struct ddp_nccl_ordered *o, size_t count)
{
    size_t sum = 0;

    for (int l = 0; l <= o->plan->stages; l++)
        sum += level_count(o, count, &o->levels[l]);
    return sum;
}

ddp_status ddp_nccl_ordered_share(const struct ddp_nccl_ordered *o, size_t count,
                                  ddp_range **ranges, size_t *range_count, ddp_error *err)
{
    const struct level *top = &o->levels[o->plan->stages];

    *range_count = 0;
    *ranges = calloc((size_t)top->piece_count + 1, sizeof **ranges);
    if (!*ranges)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a rank's share of %zu floats", count);
    for (int i = 0; i < top->piece_count; i++) {
        struct piece piece = piece_of(o, count, top->pieces[i]);

        if (piece.count)
            (*ranges)[(*range_count)++] = (ddp_range){piece.begin, piece.begin + piece.count};
    }
    return DDP_OK;
}

/* A sum on its way. */
struct way {
    const struct ddp_nccl_ordered *o;
    ddp_group *g;
    const struct ddp_nccl_channel *n;
    float *buf;
    size_t count;
};

static float *scratch_of(const struct way *w, int l)
{
    float *at = w->n->scratch;

    for (int k = 0; k < l; k++)
        at += level_count(w->o, w->count, &w->o->levels[k]);
    return at;
}

static struct piece nth_piece(const struct way *w, int l, int i)
{
    return piece_of(w->o, w->count, w->o->levels[l].pieces[i]);
}

/* Part p of piece i at level l. */
static float *part_at(const struct way *w, int l, int i, int p)
{
    const struct level *level = &w->o->levels[l];

    return scratch_of(w, l) + (size_t)level->parts * elements_before(w->o, w->count, level, i)
           + (size_t)p * nth_piece(w, l, i).count;
}

/* Sum k of piece i at level l. */
static float *sum_at(const struct way *w, int l, int i, int k)
{
    const struct level *level = &w->o->levels[l];
    struct piece piece = nth_piece(w, l, i);

    if (level->sums == 1)
        return w->buf + piece.begin;
    return scratch_of(w, l) + parts_count(w->o, w->count, level)
           + (size_t)level->sums * elements_before(w->o, w->count, level, i)
           + (size_t)k * piece.count;
}

/* Which part of a level begins with this rank. */
static int part_of(const struct level *level, int rank)
{
    int p = 0;

    while (level->firsts[p] != rank)
        p++;
    return p;
}

/* ---- messages ---- */

static ddp_status send_part(const struct way *w, const float *x, size_t count, int peer,
                            ddp_error *err)
{
    ddp_group *g = w->g;
    int place = peer - (g->rank - g->local_rank); /* among the ranks of this host */
    size_t bytes = count * sizeof *x;

    if (count == 0)
        return DDP_OK;
    g->traffic.messages++;
    g->traffic.bytes += bytes;
    g->traffic.channel_bytes[w->n - ddp_nccl_of(g)->channels] += bytes;
    if (place < 0 || place >= g->local_size)
        g->traffic.left_bytes += bytes;
    return DDP_NCCL(g, ncclSend(x, count, ncclFloat, peer, w->n->comm, w->n->stream), err);
}

static ddp_status receive_part(const struct way *w, float *x, size_t count, int peer,
                               ddp_error *err)
{
    if (count == 0)
        return DDP_OK;
    return DDP_NCCL(w->g, ncclRecv(x, count, ncclFloat, peer, w->n->comm, w->n->stream), err);
}

/* Every rank of the host gives each other one its lane, or, on the way down, gets it. */
static ddp_status exchange_lanes(const struct way *w, int down, ddp_error *err)
{
    const struct ddp_nccl_ordered *o = w->o;
    struct piece own = piece_of(o, w->count, o->lane);

    if (o->local_size == 1)
        return DDP_OK;
    if (DDP_NCCL(w->g, ncclGroupStart(), err))
        return err->code;
    for (int r = 0; r < o->local_size; r++) {
        struct piece theirs = piece_of(o, w->count, o->plan->lanes[r]);
        struct piece out = down ? own : theirs, in = down ? theirs : own;
        int peer = o->first_local + r;

        if (peer != w->g->rank
            && (send_part(w, w->buf + out.begin, out.count, peer, err)
                || receive_part(w, down ? w->buf + in.begin : part_at(w, 0, 0, r), in.count, peer,
                                err)))
            return err->code;
    }
    return DDP_NCCL(w->g, ncclGroupEnd(), err);
}

/* What a transfer of stage s carries up: each node of its ranks by itself. */
static ddp_status transfer_up(const struct way *w, int s, const struct ddp_transfer *t,
                              ddp_error *err)
{
    const struct level *level = &w->o->levels[s];
    struct piece piece = piece_of(w->o, w->count, t->units);
    int held = s > 0 ? t->held : 0, firsts[DDP_SUM_NODES_MAX];
    int nodes = ddp_sum_nodes(w->g->size, t->ranks.begin, t->ranks.end, firsts);

    for (int k = 0; k < nodes; k++) {
        const struct level *next = level + 1;
        ddp_status st =
            t->incoming
                ? receive_part(w, part_at(w, s + 1, t->held, part_of(next, firsts[k])), piece.count,
                               t->peer, err)
                : send_part(w, sum_at(w, s, held, k) + (piece.begin - nth_piece(w, s, held).begin),
                            piece.count, t->peer, err);

        if (st)
            return st;
    }
    return DDP_OK;
}

static ddp_status transfer_down(const struct way *w, const struct ddp_transfer *t, ddp_error *err)
{
    struct piece piece = piece_of(w->o, w->count, t->units);

    return t->incoming ? send_part(w, w->buf + piece.begin, piece.count, t->peer, err)
                       : receive_part(w, w->buf + piece.begin, piece.count, t->peer, err);
}

static ddp_status transfer_stage(const struct way *w, int s, int down, ddp_error *err)
{
    const struct ddp_stage *stage = &w->o->plan->stage[s];

    if (DDP_NCCL(w->g, ncclGroupStart(), err))
        return err->code;
    for (int t = 0; t < stage->transfer_count; t++)
        if (down ? transfer_down(w, &stage->transfers[t], err)
                 : transfer_up(w, s, &stage->transfers[t], err))
            return err->code;
    return DDP_NCCL(w->g, ncclGroupEnd(), err);
}

/* ---- sums ---- */

static void copy(const struct way *w, float *to, const float *from, size_t count)
{
    DDP_CUDA(w->g->gpu->cuda,
             cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, w->n->stream));
}

/* This rank's own parts of piece i go to the others. */
static void copy_own(const struct way *w, int l, int i)
{
    struct piece piece = nth_piece(w, l, i);
    const struct ddp_stage *stage = l > 0 ? &w->o->plan->stage[l - 1] : NULL;
    int held = l > 1 ? w->o->plan->stage[l].from[i] : 0, firsts[DDP_SUM_NODES_MAX], nodes;

    if (!stage) {
        copy(w, part_at(w, 0, 0, w->g->rank - w->o->first_local), w->buf + piece.begin,
             piece.count);
        return;
    }
    nodes = ddp_sum_nodes(w->g->size, stage->ranks.begin, stage->ranks.end, firsts);
    for (int k = 0; k < nodes; k++)
        copy(w, part_at(w, l, i, part_of(&w->o->levels[l], firsts[k])),
             sum_at(w, l - 1, held, k) + (piece.begin - nth_piece(w, l - 1, held).begin),
             piece.count);
}

static void sum_level(const struct way *w, int l)
{
    const struct level *level = &w->o->levels[l];

    for (int i = 0; i < level->piece_count && level->parts > 1; i++) {
        size_t count = nth_piece(w, l, i).count;
        struct ddp_cuda_sums sums = {.parts = part_at(w, l, i, 0),
                                     .stride = count,
                                     .count = level->parts,
                                     .additions = level->additions,
                                     .sums = sum_at(w, l, i, 0),
                                     .sums_stride = count};

        if (count == 0)
            continue;
        copy_own(w, l, i);
        DDP_CUDA(w->g->gpu->cuda, ddp_cuda_sum_parts(w->n->stream, &sums, count));
    }
}

static ddp_status go_up(const struct way *w, ddp_error *err)
{
    if (exchange_lanes(w, 0, err))
        return err->code;
    sum_level(w, 0);
    for (int s = 0; s < w->o->plan->stages; s++) {
        if (transfer_stage(w, s, 0, err))
            return err->code;
        sum_level(w, s + 1);
    }
    return DDP_OK;
}

static ddp_status go_down(const struct way *w, ddp_error *err)
{
    for (int s = w->o->plan->stages - 1; s >= 0; s--)
        if (transfer_stage(w, s, 1, err))
            return err->code;
    return exchange_lanes(w, 1, err);
}

ddp_status ddp_nccl_ordered_sum(const struct ddp_nccl_ordered *o, const ddp_allreduce *a,
                                const struct ddp_nccl_channel *n, ddp_error *err)
{
    const struct way w = {o, a->group, n, a->buf, a->count};

    if (a->half != DDP_GATHER && go_up(&w, err))
        return err->code;
    return a->half == DDP_REDUCE ? DDP_OK : go_down(&w, err);
}
