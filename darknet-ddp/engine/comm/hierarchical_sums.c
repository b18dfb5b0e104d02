#include "comm/hierarchical_state.h"

#include <string.h>

int ddp_hierarchical_nodes(const ddp_group *g, struct ddp_span ranks)
{
    int firsts[DDP_SUM_NODES_MAX];

    return ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);
}

struct ddp_slice ddp_hierarchical_slice_of(const ddp_group *g,
                                           const struct ddp_hierarchical_chunk *c,
                                           struct ddp_span units)
{
    return ddp_hierarchical_plan_slice(ddp_hierarchical_of(g)->plan, c->base.count, units);
}

/* The node of ranks that this rank is in, by its first rank. */
static int own_node(const ddp_group *g, struct ddp_span ranks)
{
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts), own = 0;

    for (int k = 0; k < n; k++)
        if (firsts[k] <= g->rank)
            own = firsts[k];
    return own;
}

/* Sum the addends of these ranks, and note in held[] where the sum of each branch is. own: the rank
 * whose addend lies in this rank's memory. */
static void sum_addends(const ddp_group *g, struct ddp_hierarchical_chunk *c, struct ddp_span ranks,
                        int own, size_t count, float **held)
{
    float **addends = ddp_hierarchical_of(g)->addends;
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);
    int node = own_node(g, ranks);

    if (!ddp_sum_range(addends, g->size, ranks.begin, ranks.end, own, count, c->base.sum->wire))
        c->not_finite = 1;
    for (int k = 0; k < n; k++)
        held[k] = addends[firsts[k] == node ? own : firsts[k]];
    memset(addends + ranks.begin, 0, (size_t)(ranks.end - ranks.begin) * sizeof(float *));
}

void ddp_hierarchical_sum_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    const struct ddp_stage *stage = &ddp_hierarchical_of(g)->plan->stage[0];
    int nodes = ddp_hierarchical_nodes(g, stage->ranks);

    for (int i = 0; i < stage->held_count; i++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, stage->held[i]);

        for (int r = 0; r < g->local_size; r++)
            ddp_hierarchical_of(g)->addends[stage->ranks.begin + r] = c->at[r] + slice.begin;
        sum_addends(g, c, stage->ranks, g->rank, slice.count, &c->held[0][i * nodes]);
    }
}

static void place_nodes(const ddp_group *g, struct ddp_span ranks, float *const *at)
{
    int firsts[DDP_SUM_NODES_MAX];
    int n = ddp_sum_nodes(g->size, ranks.begin, ranks.end, firsts);

    for (int k = 0; k < n; k++)
        ddp_hierarchical_of(g)->addends[firsts[k]] = at[k];
}

void ddp_hierarchical_sum_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c), *next = stage + 1;
    int nodes = ddp_hierarchical_nodes(g, stage->ranks),
        next_nodes = ddp_hierarchical_nodes(g, next->ranks), t = 0;

    for (int i = 0; i < next->held_count; i++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, next->held[i]);
        size_t within =
            slice.begin - ddp_hierarchical_slice_of(g, c, stage->held[next->from[i]]).begin;
        float *at[DDP_SUM_NODES_MAX];

        for (int k = 0; k < nodes; k++)
            at[k] = c->held[c->stage][next->from[i] * nodes + k] + within;
        place_nodes(g, stage->ranks, at);
        for (; t < stage->transfer_count
               && (!stage->transfers[t].incoming || stage->transfers[t].held <= i);
             t++) {
            if (!stage->transfers[t].incoming)
                continue;
            for (int k = 0; k < ddp_hierarchical_nodes(g, stage->transfers[t].ranks); k++)
                at[k] = c->in[t] + (size_t)k * slice.count;
            place_nodes(g, stage->transfers[t].ranks, at);
        }
        sum_addends(g, c, next->ranks, own_node(g, stage->ranks), slice.count,
                    &c->held[c->stage + 1][i * next_nodes]);
    }
}
