#include "comm/hierarchical_state.h"

#include <stdlib.h>

static size_t longest(const struct ddp_hierarchical *l, struct ddp_span units)
{
    return l->chunk_count * (size_t)(units.end - units.begin) / (size_t)l->plan->units
           + 2 * DDP_WIRE_BLOCK;
}

/* Floats that come in a stage. */
static size_t incoming_count(const ddp_group *g, const struct ddp_stage *stage)
{
    size_t count = 0;

    for (int t = 0; t < stage->transfer_count; t++)
        if (stage->transfers[t].incoming)
            count += longest(ddp_hierarchical_of(g), stage->transfers[t].units)
                     * (size_t)ddp_hierarchical_nodes(g, stage->transfers[t].ranks);
    return count;
}

/* Messages of a stage, on the way up: on the way down there are no more. */
static int stage_messages(const ddp_group *g, const struct ddp_stage *stage)
{
    int messages = 0;

    for (int t = 0; t < stage->transfer_count; t++)
        messages += ddp_hierarchical_nodes(g, stage->transfers[t].ranks);
    return messages;
}

static int open_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c, int s)
{
    const struct ddp_stage *stage = &ddp_hierarchical_of(g)->plan->stage[s];
    size_t nodes = (size_t)ddp_hierarchical_nodes(g, stage->ranks);

    c->held[s] = calloc((size_t)stage->held_count * nodes + 1, sizeof **c->held);
    c->scratch[s] = malloc((incoming_count(g, stage) + 1) * sizeof **c->scratch);
    return c->held[s] && c->scratch[s];
}

static int open_chunk(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    const struct ddp_hierarchical *l = ddp_hierarchical_of(g);
    size_t stages = (size_t)l->plan->stages + 1;
    int transfers = 0, ok;

    for (int s = 0; s < l->plan->stages; s++)
        if (transfers < l->plan->stage[s].transfer_count)
            transfers = l->plan->stage[s].transfer_count;
    c->requests = calloc((size_t)l->requests + 1, sizeof *c->requests);
    c->held = calloc(stages, sizeof *c->held);
    c->scratch = calloc(stages, sizeof *c->scratch);
    c->in = calloc((size_t)transfers + 1, sizeof *c->in);
    c->at = calloc((size_t)g->local_size, sizeof *c->at);
    ok = c->requests && c->held && c->scratch && c->in && c->at;
    for (size_t s = 0; ok && s < stages; s++)
        ok = open_stage(g, c, (int)s);
    return ok;
}

static ddp_status open_chunks(ddp_group *g, const struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct ddp_hierarchical *l = ddp_hierarchical_of(g);
    int ok;

    l->addends = calloc((size_t)g->size, sizeof *l->addends);
    l->chunks = calloc((size_t)sizes->window, sizeof *l->chunks);
    ok = l->addends && l->chunks;
    if (ok)
        l->window = sizes->window;
    for (int i = 0; ok && i < l->window; i++)
        ok = open_chunk(g, &l->chunks[i]);
    return ok ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
}

static ddp_status share_memory(ddp_group *g, const struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct ddp_hierarchical *l = ddp_hierarchical_of(g);
    size_t bytes =
        sizeof(struct ddp_board) + (size_t)sizes->window * l->chunk_count * sizeof(float);

    return ddp_shared_memory_open(&l->memory, g, bytes, err);
}

ddp_status ddp_hierarchical_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err)
{
    struct ddp_hierarchical *l = calloc(1, sizeof *l);
    ddp_chunks chunks = ddp_hierarchical_chunks(g->size, g->places.count);

    *sizes = (struct ddp_chunk_sizes){chunks.bytes / sizeof(float), chunks.window, 0};
    g->algorithm_own = l;
    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's chunks");
    l->chunk_count = sizes->count < (size_t)g->size ? (size_t)g->size : sizes->count;
    if (ddp_hierarchical_plan_open(&l->plan, &g->places, g->rank, g->radix, err))
        return err->code;
    while (g->rank >= g->places.first[l->host + 1])
        l->host++;
    l->requests = ddp_hierarchical_gather_requests(g);
    for (int s = 0; s < l->plan->stages; s++)
        if (l->requests < stage_messages(g, &l->plan->stage[s]))
            l->requests = stage_messages(g, &l->plan->stage[s]);
    sizes->requests = l->requests;
    return open_chunks(g, sizes, err) ? err->code : share_memory(g, sizes, err);
}

static void close_chunk(const struct ddp_hierarchical *l, struct ddp_hierarchical_chunk *c)
{
    for (int s = 0; s <= l->plan->stages; s++) {
        if (c->held)
            free(c->held[s]);
        if (c->scratch)
            free(c->scratch[s]);
    }
    free(c->held);
    free(c->scratch);
    free(c->in);
    free(c->at);
    free(c->requests);
}

void ddp_hierarchical_close(ddp_group *g)
{
    struct ddp_hierarchical *l = ddp_hierarchical_of(g);

    if (!l)
        return;
    for (int i = 0; i < l->window; i++)
        close_chunk(l, &l->chunks[i]);
    ddp_shared_memory_close(l->memory);
    ddp_hierarchical_plan_close(l->plan);
    free(l->chunks);
    free(l->addends);
    free(l);
}
