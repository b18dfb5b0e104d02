#include "comm/hierarchical_plan.h"

#include <stdlib.h>

/* A request for a plan, and what follows from it. */
struct planner {
    struct ddp_hierarchical_plan *plan;
    const struct ddp_rank_hosts *hosts;
    int rank, host;
    int radix;
    int lanes;      /* as many as the host of the most ranks has */
    int lane_units; /* units of a lane */
};

int ddp_hierarchical_stages(int hosts, int radix)
{
    int stages = 0;

    for (int block = 1; block < hosts; block *= radix)
        stages++;
    return stages;
}

static int ranks_of(const struct ddp_rank_hosts *hosts, int host)
{
    return hosts->first[host + 1] - hosts->first[host];
}

/* Who has a lane on a host; of hosts with fewer ranks some have several. */
static int rank_of_lane(const struct planner *p, int lane, int host)
{
    return p->hosts->first[host] + lane * ranks_of(p->hosts, host) / p->lanes;
}

/* Hosts of a whole block of a stage; of stage 0 it is one host. */
static int block_hosts(const struct planner *p, int stage)
{
    int hosts = 1;

    while (stage-- > 0)
        hosts *= p->radix;
    return hosts;
}

/* Into how many slices a stage cuts: the last one into as many as it has blocks. */
static int cuts(const struct planner *p, int stage)
{
    int before = block_hosts(p, stage - 1);

    return stage < p->plan->stages ? p->radix : (p->hosts->count + before - 1) / before;
}

/* Blocks of the stage before that a block is made of. */
static int children(const struct planner *p, int stage, int block)
{
    int hosts = block_hosts(p, stage - 1);
    int left = p->hosts->count - block * hosts * p->radix;
    int n = (left + hosts - 1) / hosts;

    return n < p->radix ? n : p->radix;
}

/* Units of a slice that is held at a stage. */
static int units_held(const struct planner *p, int stage)
{
    int units = p->lane_units;

    for (int s = 1; s <= stage; s++)
        units /= cuts(p, s);
    return units;
}

/* Which child of a block the slice `unit` falls to in a stage. */
static int child_of(const struct planner *p, int stage, int block, int unit)
{
    int slice = unit % p->lane_units / units_held(p, stage) % cuts(p, stage);

    return slice % children(p, stage, block);
}

/* Which host of a block holds the slice `unit` after a stage. */
static int holder_of(const struct planner *p, int stage, int block, int unit)
{
    for (; stage > 0; stage--)
        block = block * p->radix + child_of(p, stage, block, unit);
    return block;
}

static struct ddp_span ranks_of_block(const struct planner *p, int stage, int block)
{
    int hosts = block_hosts(p, stage), end = (block + 1) * hosts;

    if (end > p->hosts->count)
        end = p->hosts->count;
    return (struct ddp_span){p->hosts->first[block * hosts], p->hosts->first[end]};
}

static void hold(struct ddp_stage *stage, struct ddp_span units, int from)
{
    stage->held[stage->held_count] = units;
    stage->from[stage->held_count++] = from;
}

/* A slice of what is held goes to another child of the block. */
static void plan_sending(const struct planner *p, int s, int child, struct ddp_span units, int held)
{
    struct ddp_stage *stage = &p->plan->stage[s];
    int host = holder_of(p, s, child, units.begin);

    stage->transfers[stage->transfer_count++] =
        (struct ddp_stage_transfer){.peer = rank_of_lane(p, units.begin / p->lane_units, host),
                                    .units = units,
                                    .held = held,
                                    .ranks = stage->ranks};
}

/* A slice of what is held stays, and the other children's come. */
static void plan_keeping(const struct planner *p, int s, int block, int own, struct ddp_span units,
                         int held)
{
    struct ddp_stage *stage = &p->plan->stage[s];

    for (int i = 0; i < children(p, s + 1, block); i++) {
        int child = block * p->radix + i;
        int host = holder_of(p, s, child, units.begin);

        if (child != own)
            stage->transfers[stage->transfer_count++] = (struct ddp_stage_transfer){
                .peer = rank_of_lane(p, units.begin / p->lane_units, host),
                .incoming = 1,
                .units = units,
                .held = stage[1].held_count,
                .ranks = ranks_of_block(p, s, child)};
    }
    hold(&stage[1], units, held);
}

/* From what is held at stage s to what is at s + 1. */
static void plan_stage(const struct planner *p, int s)
{
    struct ddp_stage *stage = &p->plan->stage[s];
    int own = p->host / block_hosts(p, s), block = own / p->radix;
    int width = units_held(p, s + 1);

    stage[1].ranks = ranks_of_block(p, s + 1, block);
    for (int i = 0; i < stage->held_count; i++)
        for (int unit = stage->held[i].begin; unit < stage->held[i].end; unit += width) {
            struct ddp_span units = {unit, unit + width};
            int child = block * p->radix + child_of(p, s + 1, block, unit);

            if (child == own)
                plan_keeping(p, s, block, own, units, i);
            else
                plan_sending(p, s, child, units, i);
        }
}

static void plan_lanes(const struct planner *p)
{
    struct ddp_stage *stage = &p->plan->stage[0];

    stage->ranks = ranks_of_block(p, 0, p->host);
    for (int lane = 0; lane < p->lanes; lane++)
        if (rank_of_lane(p, lane, p->host) == p->rank)
            hold(stage, (struct ddp_span){lane * p->lane_units, (lane + 1) * p->lane_units}, 0);
}

/* A rank's lanes stand side by side. */
static void plan_host(const struct planner *p)
{
    int first = p->hosts->first[p->host];

    for (int lane = 0; lane < p->lanes; lane++) {
        struct ddp_span *of = &p->plan->lanes[rank_of_lane(p, lane, p->host) - first];

        if (of->end == 0)
            of->begin = lane * p->lane_units;
        of->end = (lane + 1) * p->lane_units;
    }
}

/* A stage cuts each slice that is held into as many as the radix, at most. What of these goes is a
 * transfer each; what stays comes from every other child, which is less than twice the radix. */
static int allocate(const struct planner *p)
{
    struct ddp_hierarchical_plan *plan = p->plan;
    size_t slices = 0;

    plan->lanes = calloc((size_t)ranks_of(p->hosts, p->host), sizeof *plan->lanes);
    plan->stage = calloc((size_t)plan->stages + 1, sizeof *plan->stage);
    for (int lane = 0; lane < p->lanes; lane++)
        slices += rank_of_lane(p, lane, p->host) == p->rank;
    for (int s = 0; plan->stage && s <= plan->stages; s++) {
        struct ddp_stage *stage = &plan->stage[s];

        stage->held = calloc(slices, sizeof *stage->held);
        stage->from = calloc(slices, sizeof *stage->from);
        slices *= (size_t)p->radix;
        stage->transfers = calloc(s < plan->stages ? 3 * slices : 1, sizeof *stage->transfers);
        if (!stage->held || !stage->from || !stage->transfers)
            return 0;
    }
    return plan->stage && plan->lanes;
}

struct ddp_slice ddp_hierarchical_plan_slice(const struct ddp_hierarchical_plan *plan, size_t count,
                                             struct ddp_span units)
{
    size_t all = (size_t)plan->units, begin = ddp_wire_slice(count, (size_t)units.begin, all);

    return (struct ddp_slice){begin, ddp_wire_slice(count, (size_t)units.end, all) - begin};
}

ddp_status ddp_hierarchical_plan_open(struct ddp_hierarchical_plan **out,
                                      const struct ddp_rank_hosts *hosts, int rank, int radix,
                                      ddp_error *err)
{
    struct planner p = {.plan = calloc(1, sizeof *p.plan),
                        .hosts = hosts,
                        .rank = rank,
                        .radix = radix < hosts->count ? radix : hosts->count,
                        .lanes = 1};

    *out = NULL;
    if (!p.plan)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a plan of sums");
    for (int h = 0; h < hosts->count; h++) {
        if (ranks_of(hosts, h) > p.lanes)
            p.lanes = ranks_of(hosts, h);
        if (rank >= hosts->first[h])
            p.host = h;
    }
    p.plan->stages = ddp_hierarchical_stages(hosts->count, p.radix);
    p.lane_units = 1;
    for (int s = 1; s <= p.plan->stages; s++)
        p.lane_units *= cuts(&p, s);
    p.plan->units = p.lanes * p.lane_units;
    if (!allocate(&p)) {
        ddp_hierarchical_plan_close(p.plan);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a plan of sums");
    }
    plan_host(&p);
    plan_lanes(&p);
    for (int s = 0; s < p.plan->stages; s++)
        plan_stage(&p, s);
    *out = p.plan;
    return DDP_OK;
}

void ddp_hierarchical_plan_close(struct ddp_hierarchical_plan *plan)
{
    if (!plan)
        return;
    for (int s = 0; plan->stage && s <= plan->stages; s++) {
        free(plan->stage[s].held);
        free(plan->stage[s].from);
        free(plan->stage[s].transfers);
    }
    free(plan->stage);
    free(plan->lanes);
    free(plan);
}
