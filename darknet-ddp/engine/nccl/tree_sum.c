/* Sums a GPU's memory in the fixed order of device/sum.h; NCCL only carries messages. A sum climbs
 * the levels of its plan (tree_plan.h): at each level messages bring addends, and a kernel adds
 * them. Then the sums go back down the levels. A half of a sum (ddp_work_phase) goes only up or
 * down. All is queued on one stream, so each level begins after the one before it. */
#include "nccl/tree_sum.h"

#include "comm/work.h"
#include "device/kernels_cuda.h"
#include "device/sum.h"

/* A sum on its way. */
struct way {
    const struct ddp_nccl_plan *plan;
    ddp_group *g;
    const struct ddp_nccl_channel *n;
    float *buf;
    size_t count;
};

static struct ddp_slice slice_of(const struct way *w, struct ddp_span units)
{
    return ddp_hierarchical_plan_slice(w->plan->route, w->count, units);
}

static struct ddp_slice nth_slice(const struct way *w, int l, int i)
{
    return ddp_nccl_plan_slice(w->plan, w->count, l, i);
}

/* Addend p of slice i at level l. */
static float *addend_at(const struct way *w, int l, int i, int p)
{
    return w->n->scratch + ddp_nccl_plan_addend(w->plan, w->count, l, i, p);
}

/* Sum k of slice i at level l. */
static float *sum_at(const struct way *w, int l, int i, int k)
{
    if (w->plan->levels[l].sum_count == 1)
        return w->buf + nth_slice(w, l, i).begin;
    return w->n->scratch + ddp_nccl_plan_sum(w->plan, w->count, l, i, k);
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
        g->traffic.inter_host_bytes += bytes;
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
    const struct ddp_nccl_plan *plan = w->plan;
    struct ddp_slice own = slice_of(w, plan->lane);

    if (plan->local_size == 1)
        return DDP_OK;
    if (DDP_NCCL(w->g, ncclGroupStart(), err))
        return err->code;
    for (int r = 0; r < plan->local_size; r++) {
        struct ddp_slice theirs = slice_of(w, plan->route->lanes[r]);
        struct ddp_slice out = down ? own : theirs, in = down ? theirs : own;
        int peer = plan->first_local + r;

        if (peer != w->g->rank
            && (send_part(w, w->buf + out.begin, out.count, peer, err)
                || receive_part(w, down ? w->buf + in.begin : addend_at(w, 0, 0, r), in.count, peer,
                                err)))
            return err->code;
    }
    return DDP_NCCL(w->g, ncclGroupEnd(), err);
}

/* Post the messages of a transfer of stage s: one for each branch of its ranks. */
static ddp_status transfer_up(const struct way *w, int s, const struct ddp_stage_transfer *t,
                              ddp_error *err)
{
    const struct ddp_nccl_level *next = &w->plan->levels[s + 1];
    struct ddp_slice slice = slice_of(w, t->units);
    int held = s > 0 ? t->held : 0, firsts[DDP_SUM_NODES_MAX];
    int nodes = ddp_sum_nodes(w->g->size, t->ranks.begin, t->ranks.end, firsts);

    for (int k = 0; k < nodes; k++) {
        ddp_status st =
            t->incoming
                ? receive_part(w,
                               addend_at(w, s + 1, t->held, ddp_nccl_level_addend(next, firsts[k])),
                               slice.count, t->peer, err)
                : send_part(w, sum_at(w, s, held, k) + (slice.begin - nth_slice(w, s, held).begin),
                            slice.count, t->peer, err);

        if (st)
            return st;
    }
    return DDP_OK;
}

static ddp_status transfer_down(const struct way *w, const struct ddp_stage_transfer *t,
                                ddp_error *err)
{
    struct ddp_slice slice = slice_of(w, t->units);

    return t->incoming ? send_part(w, w->buf + slice.begin, slice.count, t->peer, err)
                       : receive_part(w, w->buf + slice.begin, slice.count, t->peer, err);
}

static ddp_status transfer_stage(const struct way *w, int s, int down, ddp_error *err)
{
    const struct ddp_stage *stage = &w->plan->route->stage[s];

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

/* This rank's own addends of slice i go to the others. */
static void copy_own(const struct way *w, int l, int i)
{
    struct ddp_slice slice = nth_slice(w, l, i);
    const struct ddp_nccl_plan *plan = w->plan;
    const struct ddp_stage *stage = l > 0 ? &plan->route->stage[l - 1] : NULL;
    int held = l > 1 ? plan->route->stage[l].from[i] : 0, firsts[DDP_SUM_NODES_MAX], nodes;

    if (!stage) {
        copy(w, addend_at(w, 0, 0, w->g->rank - plan->first_local), w->buf + slice.begin,
             slice.count);
        return;
    }
    nodes = ddp_sum_nodes(w->g->size, stage->ranks.begin, stage->ranks.end, firsts);
    for (int k = 0; k < nodes; k++)
        copy(w, addend_at(w, l, i, ddp_nccl_level_addend(&plan->levels[l], firsts[k])),
             sum_at(w, l - 1, held, k) + (slice.begin - nth_slice(w, l - 1, held).begin),
             slice.count);
}

static void sum_level(const struct way *w, int l)
{
    const struct ddp_nccl_level *level = &w->plan->levels[l];

    for (int i = 0; i < level->slice_count && level->addend_count > 1; i++) {
        size_t count = nth_slice(w, l, i).count;
        struct ddp_cuda_sums sums = {.nodes = addend_at(w, l, i, 0),
                                     .stride = count,
                                     .count = level->addend_count,
                                     .additions = level->additions,
                                     .sums = sum_at(w, l, i, 0)};

        if (count == 0)
            continue;
        copy_own(w, l, i);
        DDP_CUDA(w->g->gpu->cuda, ddp_cuda_sum_nodes(w->n->stream, &sums, count));
    }
}

static ddp_status go_up(const struct way *w, ddp_error *err)
{
    if (exchange_lanes(w, 0, err))
        return err->code;
    sum_level(w, 0);
    for (int s = 0; s < w->plan->route->stages; s++) {
        if (transfer_stage(w, s, 0, err))
            return err->code;
        sum_level(w, s + 1);
    }
    return DDP_OK;
}

static ddp_status go_down(const struct way *w, ddp_error *err)
{
    for (int s = w->plan->route->stages - 1; s >= 0; s--)
        if (transfer_stage(w, s, 1, err))
            return err->code;
    return exchange_lanes(w, 1, err);
}

ddp_status ddp_nccl_ordered_sum(const struct ddp_nccl_plan *plan, const ddp_work *sum,
                                const struct ddp_nccl_channel *n, ddp_error *err)
{
    const struct way w = {plan, sum->group, n, sum->buf, sum->count};

    if (sum->phase != DDP_ALL_GATHER && go_up(&w, err))
        return err->code;
    return sum->phase == DDP_REDUCE_SCATTER ? DDP_OK : go_down(&w, err);
}
