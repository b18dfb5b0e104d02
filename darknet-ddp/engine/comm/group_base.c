/* Allocates a process group, opens it by a backend and clears it. The rest serves backends
 * (comm/backend.h): the ranks and hosts of a group, this host's name, the network interface. */
#include "comm/backend.h"
#include "comm/chunk.h"
#include "comm/host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t default_timeout_ns = 600 * INT64_C(1000000000);

ddp_status ddp_group_alloc(ddp_group **out, const struct ddp_backend *ops, ddp_error *err)
{
    ddp_group *g = calloc(1, sizeof *g);

    *out = g;
    if (!g)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a group");
    g->ops = ops;
    g->radix = DDP_HIERARCHICAL_RADIX;
    g->timeout_ns = default_timeout_ns;
    return DDP_OK;
}

ddp_status ddp_group_open_with(ddp_group **out, const struct ddp_backend *ops, ddp_error *err)
{
    ddp_group *g;

    *out = NULL;
    if (ddp_group_alloc(&g, ops, err) || ops->open(g, err)) {
        free(g);
        return ddp_wrap(err, "open process group '%s'", ops->name);
    }
    *out = g;
    return DDP_OK;
}

ddp_status ddp_group_set_ranks(ddp_group *g, int rank, int size, ddp_error *err)
{
    g->rank = rank;
    g->size = size;
    g->local_size = 1;
    g->host_sums = &ddp_host_engine;
    g->channels = 1;
    (void)strcpy(g->schedule, "direct");
    g->hosts = calloc((size_t)size, sizeof *g->hosts);
    g->places.first = calloc((size_t)size + 1, sizeof *g->places.first);
    if (!g->hosts || !g->places.first)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a group of %d ranks", size);
    return DDP_OK;
}

void ddp_group_set_places(ddp_group *g, const int *first)
{
    struct ddp_rank_hosts *places = &g->places;

    g->local_size = 0;
    places->count = 0;
    for (int r = 0; r < g->size; r++) {
        if (first[r] == r)
            places->first[places->count++] = r;
        g->local_size += first[r] == first[g->rank];
    }
    places->first[places->count] = g->size;
    g->local_rank = g->rank - first[g->rank];
}

void ddp_group_clear(ddp_group *g)
{
    ddp_host_memory_close(g);
    free(g->hosts);
    free(g->places.first);
    *g = (ddp_group){.ops = g->ops,
                     .radix = g->radix,
                     .timeout_ns = g->timeout_ns,
                     .moved = g->moved,
                     .moved_ctx = g->moved_ctx};
}

void ddp_host_name(char *name)
{
    char own[DDP_HOST_BYTES] = "unknown";

    if (gethostname(own, sizeof own - 1) != 0)
        strcpy(own, "unknown");
    memcpy(name, own, sizeof own);
}

void ddp_group_exit(ddp_group *g, int exit_status)
{
    (void)g;
    (void)fflush(stdout);
    (void)fflush(stderr);
    _exit(exit_status);
}

/* For all groups, as MPI's start is. */
static const char *wanted_interface;

void ddp_group_use_interface(const char *interface)
{
    wanted_interface = interface;
}

const char *ddp_group_interface(void)
{
    return wanted_interface;
}
