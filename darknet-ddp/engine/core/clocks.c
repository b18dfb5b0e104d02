#include "core/clocks.h"

#include "base/clock.h"

enum { TRIES = 12 };

/* Every rank takes part in the two messages between rank 0 and this one. */
static ddp_status ask(ddp_clock_offset *found, ddp_group *group, int rank, ddp_error *err)
{
    int64_t sent = ddp_clock_ns(), answer, back;

    if (ddp_broadcast(group, &sent, sizeof sent, 0, err))
        return err->code;
    answer = ddp_clock_ns();
    if (ddp_broadcast(group, &answer, sizeof answer, rank, err))
        return err->code;
    back = ddp_clock_ns();
    if (ddp_group_rank(group) == 0 && (back - sent) / 2 < found->error_ns)
        *found = (ddp_clock_offset){answer - (sent + (back - sent) / 2), (back - sent) / 2};
    return DDP_OK;
}

ddp_status ddp_clocks_compare(ddp_clock_offset *all, ddp_group *group, ddp_error *err)
{
    int size = ddp_group_size(group);

    all[0] = (ddp_clock_offset){0, 0};
    for (int rank = 1; rank < size; rank++) {
        all[rank] = (ddp_clock_offset){0, INT64_MAX};
        for (int i = 0; i < TRIES; i++)
            if (ddp_barrier(group, err) || ask(&all[rank], group, rank, err))
                return ddp_wrap(err, "comparing clocks");
    }
    return ddp_broadcast(group, all, (size_t)size * sizeof *all, 0, err);
}
