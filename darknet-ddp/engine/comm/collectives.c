/* The collectives, as programs call them: they check arguments, and add to an error which
 * collective has failed. collective.c moves the data. */
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
    if (from == to)
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
    st = ddp_collective_allgather(g, all, bytes, err);
    if (st)
        st = ddp_wrap(err, "allgather of %zu bytes a rank", bytes);
    return ddp_group_keep_failure(g, st, err);
}

void *ddp_allgather_new(ddp_group *g, const void *mine, size_t bytes, ddp_error *err)
{
    void *all = malloc((size_t)g->size * bytes + 1);

    if (!all)
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes of each of %d ranks", bytes,
                       g->size);
    else if (ddp_allgather(g, mine, all, bytes, err)) {
        free(all);
        return NULL;
    }
    return all;
}

ddp_status ddp_sum_counts(ddp_group *g, uint64_t *counts, size_t n, ddp_error *err)
{
    uint64_t *all;

    if (n == 0)
        return DDP_OK;
    all = ddp_allgather_new(g, counts, n * sizeof *counts, err);
    if (!all)
        return err->code;
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; i < (size_t)g->size * n; i++)
        counts[i % n] += all[i];
    free(all);
    return DDP_OK;
}

ddp_status ddp_holds_on_all(ddp_group *g, int *holds, ddp_error *err)
{
    uint64_t ranks = (uint64_t)*holds;
    ddp_status st = ddp_sum_counts(g, &ranks, 1, err);

    *holds = !st && ranks == (uint64_t)g->size;
    return st;
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

/* On rank 0: put `mine` and what the other ranks send into *all. */
static ddp_status receive_all(ddp_group *g, const void *mine, const size_t *sizes, void **all,
                              size_t *total, ddp_error *err)
{
    char *text;

    for (int r = 0; r < g->size; r++)
        *total += sizes[r];
    *all = text = malloc(*total + 1);
    if (!text)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", *total);
    if (sizes[0] > 0)
        memcpy(text, mine, sizes[0]);
    text[*total] = 0;
    return ddp_gather(g, text, sizes, 0, err);
}

ddp_status ddp_concatenate_on_first(ddp_group *g, const void *mine, size_t bytes, void **all,
                                    size_t *total, ddp_error *err)
{
    size_t *sizes = ddp_allgather_new(g, &bytes, sizeof bytes, err);
    ddp_status st;

    *all = NULL;
    *total = 0;
    if (!sizes)
        return err->code;
    if (g->rank == 0)
        st = receive_all(g, mine, sizes, all, total, err);
    else
        st = ddp_gather(g, (void *)mine, &bytes, 0, err);
    free(sizes);
    return st;
}

ddp_status ddp_concatenate(ddp_group *g, const void *mine, size_t bytes, void **all, size_t *total,
                           ddp_error *err)
{
    if (ddp_concatenate_on_first(g, mine, bytes, all, total, err)
        || ddp_broadcast(g, total, sizeof *total, 0, err))
        return err->code;
    if (g->rank > 0)
        *all = malloc(*total + 1);
    if (!*all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", *total);
    return ddp_broadcast(g, *all, *total + 1, 0, err);
}

ddp_status ddp_barrier(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || g->size == 1)
        return st;
    st = ddp_collective_allgather(g, NULL, 0, err);
    if (st)
        st = ddp_wrap(err, "barrier");
    return ddp_group_keep_failure(g, st, err);
}
