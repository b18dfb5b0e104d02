/* The collectives that block, as programs call them: they check arguments and put the context into
 * errors. collective.c moves the data. */
#include "comm/collectives.h"

#include "comm/backend.h"
#include "comm/collective.h"

#include <stdlib.h>
#include <string.h>

ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (root < 0 || root >= g->size)
        return ddp_fail(err, DDP_ERR_USAGE, "root %d is not a rank of %d", root, g->size);
    if (bytes == 0 || g->size == 1)
        return DDP_OK;
    st = ddp_collective_broadcast(g, buf, bytes, root, err);
    if (st)
        st = ddp_wrap(err, "broadcast of %zu bytes from rank %d", bytes, root);
    return ddp_group_keep_failure(g, st, err);
}

ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (from < 0 || from >= g->size || to < 0 || to >= g->size)
        return ddp_fail(err, DDP_ERR_USAGE, "%d or %d is not a rank of %d", from, to, g->size);
    if (bytes == 0 || from == to)
        return DDP_OK;
    st = ddp_collective_transfer(g, buf, bytes, from, to, err);
    if (st)
        st = ddp_wrap(err, "%zu bytes from rank %d to rank %d", bytes, from, to);
    return ddp_group_keep_failure(g, st, err);
}

ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || bytes == 0)
        return st;
    memmove((char *)all + (size_t)g->rank * bytes, mine, bytes);
    if (g->size == 1)
        return DDP_OK;
    st = ddp_collective_allgather(g, mine, all, bytes, err);
    if (st)
        st = ddp_wrap(err, "allgather of %zu bytes a rank", bytes);
    return ddp_group_keep_failure(g, st, err);
}

ddp_status ddp_concatenate(ddp_group *g, const void *mine, size_t bytes, void **all, size_t *total,
                           ddp_error *err)
{
    *all = NULL;
    *total = 0;
    for (int r = 0; r < g->size; r++) {
        uint64_t more = bytes;
        char *grown, *place;

        if (ddp_broadcast(g, &more, sizeof more, r, err))
            return err->code;
        grown = realloc(*all, *total + more + 1);
        if (!grown)
            return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", *total + more);
        *all = grown;
        place = grown + *total;
        if (r == g->rank && more > 0)
            memcpy(place, mine, more);
        if (ddp_broadcast(g, place, more, r, err))
            return err->code;
        place[more] = 0;
        *total += more;
    }
    return DDP_OK;
}

ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (root < 0 || root >= g->size)
        return ddp_fail(err, DDP_ERR_USAGE, "root %d is not a rank of %d", root, g->size);
    if (g->size == 1)
        return DDP_OK;
    st = ddp_collective_gather(g, data, bytes, root, err);
    if (st)
        st = ddp_wrap(err, "gathering to rank %d", root);
    return ddp_group_keep_failure(g, st, err);
}

ddp_status ddp_barrier(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || g->size == 1)
        return st;
    st = ddp_collective_allgather(g, NULL, NULL, 0, err);
    if (st)
        st = ddp_wrap(err, "barrier");
    return ddp_group_keep_failure(g, st, err);
}
