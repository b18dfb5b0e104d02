#include "comm/group.h"

#include "comm/backend.h"
#include "comm/chunk.h"
#include "comm/host_memory.h"
#include "nccl/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t default_timeout_ns = 600 * INT64_C(1000000000);

static const struct ddp_backend *const backends[] = {
    &ddp_backend_solo,
#ifdef DDP_WITH_MPI
    &ddp_backend_mpi,
#endif
#ifdef DDP_WITH_GLOO
    &ddp_backend_gloo,
#endif
};

#ifndef DDP_WITH_MPI
int ddp_group_mpi_knows_pmi(void)
{
    return 0;
}
#endif

int ddp_group_has(const char *backend)
{
    size_t i = 0, n = sizeof backends / sizeof backends[0];

    while (i < n && strcmp(backend, backends[i]->name) != 0)
        i++;
    return i < n;
}

ddp_status ddp_group_open(ddp_group **out, const char *backend, ddp_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (strcmp(backend, backends[i]->name) != 0)
            continue;
        if (backends[i]->open(out, err))
            return ddp_wrap(err, "open process group '%s'", backend);
        return DDP_OK;
    }
    return ddp_fail(err, DDP_ERR_USAGE, "no backend '%s' in this build", backend);
}

ddp_status ddp_group_alloc(ddp_group **out, size_t bytes, int rank, int size, ddp_error *err)
{
    ddp_group *g = calloc(1, bytes);

    *out = NULL;
    if (g) {
        g->hosts = calloc((size_t)size, sizeof *g->hosts);
        g->places.first = calloc((size_t)size + 1, sizeof *g->places.first);
    }
    if (!g || !g->hosts || !g->places.first) {
        if (g)
            ddp_group_free(g);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a group of %d ranks", size);
    }
    g->rank = rank;
    g->size = size;
    g->local_size = 1;
    g->radix = DDP_LEVELS_RADIX;
    g->channels = 1;
    (void)strcpy(g->schedule, "direct");
    g->timeout_ns = default_timeout_ns;
    *out = g;
    return DDP_OK;
}

void ddp_group_set_places(ddp_group *g, const int *first)
{
    struct ddp_hosts *places = &g->places;

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

void ddp_group_free(ddp_group *g)
{
    ddp_host_memory_close(g);
    free(g->hosts);
    free(g->places.first);
    free(g);
}

void ddp_host_name(char *name)
{
    char own[DDP_HOST_BYTES] = "unknown";

    if (gethostname(own, sizeof own - 1) != 0)
        strcpy(own, "unknown");
    memcpy(name, own, sizeof own);
}

void ddp_group_close(ddp_group *g)
{
    if (!g)
        return;
    if (g->gpu)
        ddp_gpu_close(g);
    g->ops->close(g);
}

void ddp_group_abort(ddp_group *g, int exit_status)
{
    g->ops->abort(g, exit_status ? exit_status : 1);
}

void ddp_group_exit(ddp_group *g, int exit_status)
{
    (void)g;
    (void)fflush(stdout);
    (void)fflush(stderr);
    _exit(exit_status);
}

int ddp_group_rank(const ddp_group *g)
{
    return g->rank;
}

int ddp_group_size(const ddp_group *g)
{
    return g->size;
}

const char *ddp_group_backend(const ddp_group *g)
{
    return g->ops->name;
}

int ddp_group_local_rank(const ddp_group *g)
{
    return g->local_rank;
}

int ddp_group_local_size(const ddp_group *g)
{
    return g->local_size;
}

const char *ddp_group_host(const ddp_group *g, int rank)
{
    return g->hosts[rank];
}

void ddp_group_set_timeout(ddp_group *g, int64_t timeout_ns)
{
    g->timeout_ns = timeout_ns;
}

void ddp_group_on_messages(ddp_group *g, void (*moved)(void *ctx), void *ctx)
{
    g->moved_ctx = ctx;
    g->moved = moved;
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

ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (!st && (channels < 1 || channels > DDP_CHANNELS_MAX))
        st = ddp_fail(err, DDP_ERR_USAGE, "a group has 1 to %d channels, not %d", DDP_CHANNELS_MAX,
                      channels);
    if (st || channels == 1 || g->size == 1)
        return st;
    if (!g->transport || !g->transport->use_channels)
        return ddp_fail(err, DDP_ERR_USAGE, "%s has one channel", g->ops->name);
    st = ddp_group_keep_failure(g, g->transport->use_channels(g, channels, err), err);
    if (!st)
        g->channels = channels;
    return st;
}

int ddp_group_channels(const ddp_group *g)
{
    return g->channels;
}

ddp_status ddp_group_check_alive(const ddp_group *g, ddp_error *err)
{
    if (g->failure.code)
        return ddp_fail(err, DDP_ERR_COMM, "the group failed earlier: %s", g->failure.text);
    return DDP_OK;
}

ddp_status ddp_group_keep_failure(ddp_group *g, ddp_status st, const ddp_error *err)
{
    if (st == DDP_ERR_COMM && !g->failure.code)
        g->failure = *err;
    return st;
}

void ddp_group_give_up(ddp_group *g)
{
    if (g->gpu && g->failure.code)
        ddp_gpu_abort(g);
}

ddp_status ddp_group_progress(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (!st)
        st = ddp_group_keep_failure(g, g->ops->progress(g, err), err);
    if (!st && g->gpu)
        st = ddp_group_keep_failure(g, ddp_gpu_progress(g, err), err);
    return st;
}

ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st)
        return st;
    if (root < 0 || root >= g->size)
        return ddp_fail(err, DDP_ERR_USAGE, "root %d is not a rank of %d", root, g->size);
    if (bytes == 0 || g->size == 1)
        return DDP_OK;
    st = g->ops->broadcast(g, buf, bytes, root, err);
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
    st = g->ops->transfer(g, buf, bytes, from, to, err);
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
    st = g->ops->allgather(g, mine, all, bytes, err);
    if (st)
        st = ddp_wrap(err, "allgather of %zu bytes a rank", bytes);
    return ddp_group_keep_failure(g, st, err);
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
    st = g->ops->gather(g, data, bytes, root, err);
    if (st)
        st = ddp_wrap(err, "gathering to rank %d", root);
    return ddp_group_keep_failure(g, st, err);
}

ddp_status ddp_barrier(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || g->size == 1)
        return st;
    st = g->ops->allgather(g, NULL, NULL, 0, err);
    if (st)
        st = ddp_wrap(err, "barrier");
    return ddp_group_keep_failure(g, st, err);
}

/* ---- GPUs ---- */

ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    return st ? st : ddp_group_keep_failure(g, ddp_gpu_open(g, config, err), err);
}

ddp_device *ddp_group_device(const ddp_group *g)
{
    return g->gpu ? ddp_gpu_device(g) : ddp_device_host();
}

const char *ddp_group_transport(const ddp_group *g)
{
    return g->gpu ? ddp_gpu_transport(g) : g->ops->name;
}

ddp_status ddp_group_settle(ddp_group *g, ddp_error *err)
{
    ddp_status st = ddp_group_check_alive(g, err);

    if (st || !g->gpu)
        return st;
    return ddp_group_keep_failure(g, ddp_gpu_settle(g, err), err);
}

int64_t ddp_group_stalled_ns(const ddp_group *g)
{
    return g->gpu ? ddp_gpu_stalled_ns(g) : 0;
}

/* In small sums a copy costs less than memory of their own. */
enum { LEAST_SHARED_BYTES = 256 * 1024 };

static ddp_status alloc_on_host(ddp_group *g, ddp_device *d, float **x, size_t count,
                                ddp_error *err)
{
    void *shared = NULL;

    if (g->way == &ddp_way_levels && count * sizeof **x >= LEAST_SHARED_BYTES
        && ddp_host_memory_alloc(g, &shared, count * sizeof **x, err))
        return ddp_group_keep_failure(g, err->code, err);
    *x = shared;
    return shared ? DDP_OK : ddp_device_alloc(d, x, count, err);
}

ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err)
{
    if (ddp_device_is_host(d))
        return alloc_on_host(g, d, x, count, err);
    *x = ddp_gpu_alloc(g, count);
    if (!*x)
        return ddp_fail(err, DDP_ERR_NOMEM, "no %zu MiB of memory on %s", count * sizeof **x >> 20,
                        ddp_device_name(d));
    return DDP_OK;
}

void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x)
{
    if (!x)
        return;
    ddp_group_give_up(g);
    if (!ddp_device_is_host(d))
        ddp_gpu_free(g, x);
    else if (!ddp_host_memory_free(g, x))
        ddp_device_free(d, x);
}
