/* Sums of a GPU's memory by NCCL. All calls to NCCL are in this file and nccl_memory.c.
 *
 * The communicator does not block: a call that is still at work says ncclInProgress, and is
 * polled, so that a peer that never comes ends in a timeout. Sums are queued on the comm
 * stream; nothing here waits for the GPU. */
#include "base/clock.h"
#include "comm/nccl_state.h"
#include "device/cuda_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ncclCommInitRankConfig with maxCTAs is 2.17's; what it does with peers that are lost became
 * dependable in 2.18. */
enum { OLDEST = 21800, PATIENCE_S = 2 };

/* ncclBfloat16, which nccl.h names only where it finds cuda_bf16.h. */
enum { BFLOAT16 = 9 };

#if NCCL_VERSION_CODE < 21800
#error "NCCL 2.18 or newer is needed"
#endif

/* ---- calls ---- */

/* Poll until the communicator has done what it was asked. */
static ncclResult_t finish(ddp_group *g, ddp_error *err)
{
    int64_t start = ddp_clock_ns();
    ncclResult_t state = ncclInProgress;

    while (ncclCommGetAsyncError(ddp_nccl_of(g)->comm, &state) == ncclSuccess
           && state == ncclInProgress) {
        if (g->ops->progress(g, err))
            return ncclRemoteError;
        if (g->timeout_ns > 0 && ddp_clock_ns() - start > g->timeout_ns) {
            (void)ddp_fail(err, DDP_ERR_COMM, "no answer from the other ranks for %.9g s",
                           (double)g->timeout_ns / 1e9);
            return ncclRemoteError;
        }
    }
    *err = (ddp_error){0};
    return state;
}

/* NCCL has noticed that another rank failed. That one knows why: let it say so first, and end the
 * job. */
static void let_others_report(void)
{
    struct timespec pause = {PATIENCE_S, 0};

    (void)nanosleep(&pause, NULL);
}

ddp_status ddp_nccl_check(ddp_group *g, ncclResult_t rc, const char *call, ddp_error *err)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    int name = (int)strcspn(call, "(");
    const char *more;

    *err = (ddp_error){0};
    if (rc == ncclInProgress)
        rc = finish(g, err);
    if (rc == ncclSuccess)
        return DDP_OK;
    if (rc == ncclRemoteError && !err->code)
        let_others_report();
    if (err->code)
        return ddp_wrap(err, "NCCL: %.*s on GPU %d", name, call, g->gpu->cuda->gpu);
    more = n->comm ? ncclGetLastError(n->comm) : "";
    return ddp_fail(err, DDP_ERR_COMM,
                    "NCCL: %.*s failed on GPU %d: %s%s%s (NCCL_DEBUG=INFO in the environment says "
                    "more%s%s)",
                    name, call, g->gpu->cuda->gpu, ncclGetErrorString(rc), more[0] ? ": " : "",
                    more, g->gpu->config.without_nccl ? "; " : "",
                    g->gpu->config.without_nccl ? g->gpu->config.without_nccl : "");
}

/* ---- sums ---- */

/* Rank r sums elements [r * piece, (r + 1) * piece) of a sum, as far as there are any. */
static size_t piece_of(const ddp_allreduce *a)
{
    size_t size = (size_t)a->group->size;

    return (a->count + size - 1) / size;
}

static size_t piece_start(const ddp_allreduce *a, int rank)
{
    size_t start = (size_t)rank * piece_of(a);

    return start < a->count ? start : a->count;
}

static size_t piece_count(const ddp_allreduce *a, int rank)
{
    return piece_start(a, rank + 1) - piece_start(a, rank);
}

/* Every rank's part of piece p goes to rank p. */
static ddp_status scatter_parts(ddp_allreduce *a, ddp_error *err)
{
    ddp_group *g = a->group;
    struct ddp_nccl *n = ddp_nccl_of(g);
    cudaStream_t comm = g->gpu->cuda->comm;
    size_t mine = piece_count(a, g->rank);

    if (DDP_NCCL(g, ncclGroupStart(), err))
        return err->code;
    for (int r = 0; r < g->size; r++) {
        size_t theirs = piece_count(a, r);

        if (r == g->rank)
            continue;
        if (theirs > 0
            && DDP_NCCL(
                g, ncclSend(a->buf + piece_start(a, r), theirs, ncclFloat, r, n->comm, comm), err))
            return err->code;
        if (mine > 0
            && DDP_NCCL(
                g,
                ncclRecv(n->scratch + (size_t)r * piece_of(a), mine, ncclFloat, r, n->comm, comm),
                err))
            return err->code;
    }
    return DDP_NCCL(g, ncclGroupEnd(), err);
}

static void sum_parts(ddp_allreduce *a)
{
    ddp_group *g = a->group;
    ddp_cuda *c = g->gpu->cuda;
    struct ddp_nccl *n = ddp_nccl_of(g);
    size_t mine = piece_count(a, g->rank);
    float *own = a->buf + piece_start(a, g->rank);

    if (mine == 0)
        return;
    DDP_CUDA(c, cudaMemcpyAsync(n->scratch + (size_t)g->rank * piece_of(a), own, mine * sizeof *own,
                                cudaMemcpyDeviceToDevice, c->comm));
    DDP_CUDA(c, ddp_cuda_sum_parts(c->comm, own, n->scratch, piece_of(a), g->size, mine));
}

static ddp_status gather_sums(ddp_allreduce *a, ddp_error *err)
{
    ddp_group *g = a->group;
    struct ddp_nccl *n = ddp_nccl_of(g);
    cudaStream_t comm = g->gpu->cuda->comm;
    size_t mine = piece_count(a, g->rank);

    if (DDP_NCCL(g, ncclGroupStart(), err))
        return err->code;
    for (int r = 0; r < g->size; r++) {
        size_t theirs = piece_count(a, r);

        if (r == g->rank)
            continue;
        if (mine > 0
            && DDP_NCCL(
                g, ncclSend(a->buf + piece_start(a, g->rank), mine, ncclFloat, r, n->comm, comm),
                err))
            return err->code;
        if (theirs > 0
            && DDP_NCCL(
                g, ncclRecv(a->buf + piece_start(a, r), theirs, ncclFloat, r, n->comm, comm), err))
            return err->code;
    }
    return DDP_NCCL(g, ncclGroupEnd(), err);
}

static ddp_status sum_in_order(ddp_allreduce *a, ddp_error *err)
{
    if (scatter_parts(a, err))
        return err->code;
    sum_parts(a);
    return gather_sums(a, err);
}

/* Sums follow one another on the comm stream, so one packed copy is enough. */
static ddp_status sum_packed(ddp_allreduce *a, ddp_error *err)
{
    ddp_group *g = a->group;
    ddp_cuda *c = g->gpu->cuda;
    struct ddp_nccl *n = ddp_nccl_of(g);
    uint16_t *packed = (uint16_t *)(void *)n->scratch;
    ncclDataType_t type = a->wire == DDP_WIRE_BF16 ? (ncclDataType_t)BFLOAT16 : ncclHalf;

    DDP_CUDA(c, ddp_cuda_pack(c->comm, packed, a->buf, a->count, a->wire));
    if (DDP_NCCL(g, ncclAllReduce(packed, packed, a->count, type, ncclSum, n->comm, c->comm), err))
        return err->code;
    DDP_CUDA(c, ddp_cuda_unpack(c->comm, a->buf, packed, a->count, a->wire));
    return DDP_OK;
}

/* Floats of scratch that a sum takes. */
static size_t scratch_of(const ddp_allreduce *a)
{
    if (a->wire != DDP_WIRE_FP32)
        return a->count / 2 + 1;
    return a->group->gpu->config.exact ? piece_of(a) * (size_t)a->group->size : 0;
}

static ddp_status nccl_sum_open(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_group *g = s->sum->group;
    struct ddp_nccl *n = ddp_nccl_of(g);
    size_t count = scratch_of(s->sum);

    if (count <= n->scratch_count)
        return DDP_OK;
    ddp_device_free(&g->gpu->cuda->base, n->scratch); /* waits for what uses it */
    n->scratch_count = 0;
    if (ddp_device_alloc(&g->gpu->cuda->base, &n->scratch, count, err))
        return err->code;
    n->scratch_count = count;
    return DDP_OK;
}

static void nccl_sum_close(struct ddp_gpu_sum *s)
{
    (void)s;
}

static ddp_status nccl_sum_start(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_allreduce *a = s->sum;
    ddp_group *g = a->group;
    cudaStream_t comm = g->gpu->cuda->comm;
    ddp_status st;

    if (a->wire != DDP_WIRE_FP32)
        st = sum_packed(a, err);
    else if (g->gpu->config.exact)
        st = sum_in_order(a, err);
    else
        st = DDP_NCCL(
            g,
            ncclAllReduce(a->buf, a->buf, a->count, ncclFloat, ncclSum, ddp_nccl_of(g)->comm, comm),
            err);
    if (st)
        return ddp_wrap(err, "sum %d of %d", a->number, g->sums_opened);
    ddp_gpu_check_finite(s, comm);
    DDP_CUDA(g->gpu->cuda, cudaEventRecord(s->landed, comm));
    s->queued = 1;
    return DDP_OK;
}

/* What has failed since, on this rank or, as far as NCCL notices, on another. */
static ddp_status nccl_progress(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    ncclResult_t state;

    (void)s;
    if (DDP_NCCL(g, ncclCommGetAsyncError(n->comm, &state), err))
        return err->code;
    if (state == ncclSuccess || state == ncclInProgress)
        return DDP_OK;
    return ddp_nccl_check(g, state, "a sum", err);
}

/* ---- the communicator ---- */

static void nccl_abort(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    if (n->comm)
        (void)ncclCommAbort(n->comm);
    n->comm = NULL;
}

static void nccl_close(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    ddp_error ignored;

    if (n->comm && !g->failure.code && !DDP_NCCL(g, ncclCommFinalize(n->comm), &ignored))
        (void)ncclCommDestroy(n->comm);
    else
        nccl_abort(g);
    n->comm = NULL;
    ddp_nccl_free_all(g);
    ddp_device_free(&g->gpu->cuda->base, n->scratch);
    free(n);
}

static ddp_status compare_versions(ddp_group *g, int version, ddp_error *err)
{
    int *all = calloc((size_t)g->size, sizeof *all);
    ddp_status st;

    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d versions", g->size);
    st = ddp_allgather(g, &version, all, sizeof version, err);
    for (int r = 0; r < g->size && !st; r++)
        if (all[r] != all[0])
            st = ddp_fail(err, DDP_ERR_MISMATCH,
                          "rank 0 (host %s) has NCCL %d.%d.%d, rank %d (host %s) %d.%d.%d",
                          g->hosts[0], all[0] / 10000, all[0] / 100 % 100, all[0] % 100, r,
                          g->hosts[r], all[r] / 10000, all[r] / 100 % 100, all[r] % 100);
    free(all);
    return st;
}

static ddp_status check_version(ddp_group *g, struct ddp_nccl *n, ddp_error *err)
{
    if (DDP_NCCL(g, ncclGetVersion(&n->version), err))
        return err->code;
    if (compare_versions(g, n->version, err)) /* first: all ranks fail alike */
        return err->code;
    if (n->version < OLDEST)
        return ddp_fail(err, DDP_ERR_USAGE, "NCCL %d.%d.%d is too old, 2.18 is needed",
                        n->version / 10000, n->version / 100 % 100, n->version % 100);
    return DDP_OK;
}

/* NCCL refuses two ranks of one host on one GPU; as ranks of different hosts it takes them. */
static void pretend_own_host(const ddp_group *g)
{
    char name[DDP_HOST_BYTES + 16];

    (void)snprintf(name, sizeof name, "%s-rank-%d", g->hosts[g->rank], g->rank);
    (void)setenv("NCCL_HOSTID", name, 0);
}

static ddp_status init_communicator(ddp_group *g, struct ddp_nccl *n, ddp_error *err)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    ncclResult_t rc = ncclSuccess;

    if (g->gpu->config.shared)
        pretend_own_host(g);
    config.blocking = 0;
    if (g->gpu->config.ctas > 0)
        config.maxCTAs = g->gpu->config.ctas;
    memset(&id, 0, sizeof id);
    if (g->rank == 0)
        rc = ncclGetUniqueId(&id);
    if (ddp_nccl_check(g, rc, "ncclGetUniqueId", err) || ddp_broadcast(g, &id, sizeof id, 0, err))
        return err->code;
    return DDP_NCCL(g, ncclCommInitRankConfig(&n->comm, g->size, id, g->rank, &config), err);
}

static const struct ddp_gpu_way way = {
    .close = nccl_close,
    .abort = nccl_abort,
    .sum_open = nccl_sum_open,
    .sum_close = nccl_sum_close,
    .sum_start = nccl_sum_start,
    .progress = nccl_progress,
    .alloc = ddp_nccl_alloc,
    .free = ddp_nccl_free,
};

ddp_status ddp_nccl_open(ddp_group *g, ddp_error *err)
{
    struct ddp_nccl *n = calloc(1, sizeof *n);

    if (!n)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for NCCL");
    g->gpu->way = way;
    g->gpu->way.state = n;
    if (check_version(g, n, err) || init_communicator(g, n, err)) {
        nccl_abort(g);
        free(n);
        g->gpu->way = (struct ddp_gpu_way){0};
        return err->code;
    }
    (void)snprintf(g->gpu->way.name, sizeof way.name, "nccl %d.%d.%d", n->version / 10000,
                   n->version / 100 % 100, n->version % 100);
    return DDP_OK;
}
