#include "base/is_finite.h"
#include "comm/hierarchical_state.h"

#include <math.h>

ddp_status ddp_hierarchical_post(ddp_group *g, struct ddp_hierarchical_chunk *c, int phase,
                                 int incoming, int peer, float *data, size_t count, ddp_error *err)
{
    const struct ddp_part part = {peer, phase, data, count};
    int i = c->messages_posted++;

    c->requests[i] = (struct ddp_hierarchical_request){peer, (char)incoming, 1};
    c->messages_left++;
    return incoming ? ddp_part_recv(g, &c->base, i, &part, err)
                    : ddp_part_send(g, &c->base, i, &part, err);
}

ddp_status ddp_hierarchical_receive_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                           ddp_error *err)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c);
    float *at = c->scratch[c->stage];

    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_stage_transfer *transfer = &stage->transfers[t];
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, transfer->units);
        int nodes =
            transfer->incoming && slice.count ? ddp_hierarchical_nodes(g, transfer->ranks) : 0;

        c->in[t] = at;
        for (int k = 0; k < nodes; k++, at += slice.count)
            if (ddp_hierarchical_post(g, c, 0, 1, transfer->peer, at, slice.count, err))
                return err->code;
    }
    return DDP_OK;
}

ddp_status ddp_hierarchical_send_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c);
    int nodes = ddp_hierarchical_nodes(g, stage->ranks);

    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_stage_transfer *transfer = &stage->transfers[t];
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, transfer->units);
        size_t within =
            slice.begin - ddp_hierarchical_slice_of(g, c, stage->held[transfer->held]).begin;

        for (int k = 0; k < nodes && !transfer->incoming && slice.count; k++)
            if (ddp_hierarchical_post(g, c, 0, 0, transfer->peer,
                                      c->held[c->stage][transfer->held * nodes + k] + within,
                                      slice.count, err))
                return err->code;
    }
    return DDP_OK;
}

/* Others learn of a sum that is not finite by the first element of what they get, which then is no
 * number. */
static void mark_not_finite(const ddp_group *g, const struct ddp_hierarchical_chunk *c)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c);

    for (int t = 0; t < stage->transfer_count; t++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, stage->transfers[t].units);

        if (stage->transfers[t].incoming && slice.count)
            ddp_hierarchical_own(g, c)[slice.begin] = NAN;
    }
}

ddp_status ddp_hierarchical_return_sums(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c);

    if (c->not_finite)
        mark_not_finite(g, c);
    for (int t = 0; t < stage->transfer_count; t++) {
        const struct ddp_stage_transfer *transfer = &stage->transfers[t];
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, transfer->units);

        if (slice.count
            && ddp_hierarchical_post(g, c, 1, !transfer->incoming, transfer->peer,
                                     ddp_hierarchical_own(g, c) + slice.begin, slice.count, err))
            return err->code;
    }
    return DDP_OK;
}

void ddp_hierarchical_check_returned(const ddp_group *g, struct ddp_hierarchical_chunk *c)
{
    const struct ddp_stage *stage = ddp_hierarchical_stage(g, c);

    for (int t = 0; t < stage->transfer_count; t++) {
        struct ddp_slice slice = ddp_hierarchical_slice_of(g, c, stage->transfers[t].units);

        if (!stage->transfers[t].incoming
            && !ddp_all_finite(ddp_hierarchical_own(g, c) + slice.begin, slice.count > 0))
            c->not_finite = 1;
    }
}
