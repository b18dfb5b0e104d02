/* Opens the pipeline of a group's sums of host memory: the memory of its chunks and messages, and
 * the algorithm by which chunks are summed. */
#include "comm/chunk_pipeline_state.h"

#include <stdlib.h>

static ddp_status reserve(ddp_group *g, int requests, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = g->pipeline;
    /* One more than needed, since a group of one rank needs none. */
    int *ended = realloc(p->ended, ((size_t)requests + 1) * sizeof *ended);

    if (!ended)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d requests", requests);
    p->ended = ended;
    if (ddp_parts_reserve(p, requests, err))
        return err->code;
    return g->transport->reserve(g, requests, err);
}

ddp_status ddp_chunk_pipeline_open(ddp_group *g, ddp_error *err)
{
    struct ddp_chunk_pipeline *p = calloc(1, sizeof *p);

    g->pipeline = p;
    if (p)
        p->collective_requests =
            calloc((size_t)ddp_collective_requests(g) + 1, sizeof *p->collective_requests);
    if (!p || !p->collective_requests)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the group's messages");
    return reserve(g, ddp_collective_requests(g), err);
}

static void close_algorithm(ddp_group *g)
{
    if (g->algorithm)
        g->algorithm->close(g);
    g->algorithm = NULL;
    g->algorithm_own = NULL;
    g->pipeline->sizes = (struct ddp_chunk_sizes){0};
}

void ddp_chunk_pipeline_close(ddp_group *g)
{
    struct ddp_chunk_pipeline *p = g->pipeline;

    if (!p)
        return;
    close_algorithm(g);
    ddp_parts_release(p);
    free(p->ended);
    free(p->collective_requests);
    free(p);
    g->pipeline = NULL;
}

ddp_status ddp_chunk_pipeline_use(ddp_group *g, const struct ddp_allreduce_algorithm *algorithm,
                                  ddp_error *err)
{
    struct ddp_chunk_sizes sizes = {0};
    ddp_status st;

    close_algorithm(g);
    g->algorithm = algorithm;
    st = algorithm->open(g, &sizes, err);
    if (!st)
        st = reserve(g, ddp_collective_requests(g) + sizes.window * sizes.requests, err);
    if (st)
        close_algorithm(g);
    else
        g->pipeline->sizes = sizes;
    return st;
}
