/* Tells which ranges of a sum a rank has after a reduce-scatter (DDP_REDUCE_SCATTER). They are its
 * slices of each chunk, by the algorithm that sums the chunk. */
#include "comm/chunk_pipeline_state.h"
#include "comm/work.h"

#include <stdlib.h>

static void add(ddp_range *ranges, size_t *count, ddp_range range)
{
    if (range.begin < range.end)
        ranges[(*count)++] = range;
}

static ddp_status list(ddp_group *g, size_t size, ddp_range **ranges, size_t *count, ddp_error *err)
{
    size_t most = g->pipeline->sizes.count, chunks = (size + most - 1) / most;
    int parts;

    (void)g->algorithm->share(g, most, 0, &parts);
    *ranges = calloc(chunks * (size_t)parts + 1, sizeof **ranges);
    if (!*ranges)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a rank's share of %zu floats", size);
    for (size_t at = 0; at < size; at += most)
        for (int i = 0; i < parts; i++) {
            ddp_range r = g->algorithm->share(g, size - at < most ? size - at : most, i, &parts);

            add(*ranges, count, (ddp_range){at + r.begin, at + r.end});
        }
    return DDP_OK;
}

ddp_status ddp_chunk_pipeline_share(const ddp_work *w, ddp_range **ranges, size_t *count,
                                    ddp_error *err)
{
    ddp_group *g = w->group;

    *count = 0;
    if (g->size > 1) {
        if (!g->algorithm && ddp_chunk_pipeline_use(g, &ddp_allreduce_direct, err))
            return err->code;
        return list(g, w->count, ranges, count, err);
    }
    *ranges = calloc(1, sizeof **ranges);
    if (!*ranges)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a rank's share");
    add(*ranges, count, (ddp_range){0, w->count});
    return DDP_OK;
}
