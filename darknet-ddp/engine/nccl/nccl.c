/* Sums of a GPU's memory by NCCL. All calls to NCCL are in nccl.c, memory.c and tree_sum.c.
 *
 * Calls of communicators do not block, unless the environment asks for it (may_block). A call that
 * is still at work answers ncclInProgress and is polled, so that the group's timeout ends the wait
 * for a peer that never comes.
 *
 * Sums are queued on the comm stream; to start one does not wait for the GPU. With several channels
 * each one has a communicator and a stream of its own. Sums take turns at them in the order in
 * which they are started. NCCL requires that order to be the same on all ranks, and it is. */
#include "base/clock.h"
#include "base/net_interface.h"
#include "comm/chunk_pipeline.h"
#include "comm/collectives.h"
#include "comm/work.h"
#include "device/kernels_cuda.h"
#include "nccl/tree_sum.h"

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

/* Return what failed on some communicator, or else whether one is at work. */
static ncclResult_t state_of_all(const ddp_group *g)
{
    const struct ddp_nccl *n = ddp_nccl_of(g);
    ncclResult_t all = ncclSuccess;

    for (int c = 0; c < g->channels; c++) {
        ncclResult_t state = ncclSuccess, rc = ncclSuccess;

        if (n->channels[c].comm)
            rc = ncclCommGetAsyncError(n->channels[c].comm, &state);
        if (rc != ncclSuccess)
            return rc;
        if (state != ncclSuccess && state != ncclInProgress)
            return state;
        if (state == ncclInProgress)
            all = state;
    }
    return all;
}

/* Poll until they have done what they were asked. While they are opened NCCL may never notice that
 * a rank is gone; the group's transport does. */
static ncclResult_t finish(ddp_group *g, ddp_error *err)
{
    int64_t start = ddp_clock_ns(), looked = start;
    ncclResult_t state;

    while ((state = state_of_all(g)) == ncclInProgress) {
        if (ddp_chunk_pipeline_poll_transport(g, err))
            return ncclRemoteError;
        start += ddp_clock_stopped_ns(&looked);
        if (g->timeout_ns > 0 && looked - start > g->timeout_ns) {
            (void)ddp_fail(err, DDP_ERR_COMM, "no answer from the other ranks for %.9g s",
                           (double)g->timeout_ns / 1e9);
            return ncclRemoteError;
        }
    }
    return state;
}

/* NCCL has noticed that another rank failed, and not which. That one knows why: let it say so
 * first, and end the job. Where nothing ends it the group's transport knows who is gone. */
static void let_others_report(ddp_group *g, ddp_error *err)
{
    struct timespec pause = {PATIENCE_S, 0};

    (void)nanosleep(&pause, NULL);
    (void)!ddp_chunk_pipeline_poll_transport(g, err);
}

ddp_status ddp_nccl_check(ddp_group *g, ncclResult_t rc, const char *call, ddp_error *err)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    int name = (int)strcspn(call, "(");
    const char *more;
    ddp_error why = {0};

    if (rc == ncclInProgress)
        rc = finish(g, &why);
    if (rc == ncclSuccess)
        return DDP_OK;
    if (rc == ncclRemoteError && !why.code)
        let_others_report(g, &why);
    if (why.code) {
        *err = why;
        return ddp_wrap(err, "NCCL: %.*s on GPU %d", name, call, g->gpu->cuda->gpu);
    }
    more = n->channels[0].comm ? ncclGetLastError(n->channels[0].comm) : "";
    return ddp_fail(err, DDP_ERR_COMM,
                    "NCCL: %.*s failed on GPU %d: %s%s%s (NCCL_DEBUG=INFO in the environment says "
                    "more%s%s)",
                    name, call, g->gpu->cuda->gpu, ncclGetErrorString(rc), more[0] ? ": " : "",
                    more, g->gpu->config.without_nccl ? "; " : "",
                    g->gpu->config.without_nccl ? g->gpu->config.without_nccl : "");
}

/* ---- sums ---- */

static ddp_status sum_packed(ddp_work *w, const struct ddp_nccl_channel *n, ddp_error *err)
{
    ddp_group *g = w->group;
    ddp_cuda *c = g->gpu->cuda;
    uint16_t *packed = (uint16_t *)(void *)n->scratch;
    ncclDataType_t type = w->wire == DDP_WIRE_BF16 ? (ncclDataType_t)BFLOAT16 : ncclHalf;

    DDP_CUDA(c, ddp_cuda_pack(n->stream, packed, w->buf, w->count, w->wire));
    if (DDP_NCCL(g, ncclAllReduce(packed, packed, w->count, type, ncclSum, n->comm, n->stream),
                 err))
        return err->code;
    DDP_CUDA(c, ddp_cuda_unpack(n->stream, w->buf, packed, w->count, w->wire));
    return DDP_OK;
}

/* In place, as NCCL has it where a rank's part lies among all. */
static ddp_status gather_parts(ddp_work *w, const struct ddp_nccl_channel *n, ddp_error *err)
{
    const float *own = w->buf + (size_t)w->group->rank * w->count_each;

    return DDP_NCCL(w->group,
                    ncclAllGather(own, w->buf, w->count_each, ncclFloat, n->comm, n->stream), err);
}

/* Floats of scratch that a sum takes. */
static size_t scratch_of(const ddp_work *w)
{
    if (w->count_each)
        return 0;
    if (w->wire != DDP_WIRE_FP32)
        return w->count / 2 + 1;
    return w->group->gpu->config.exact
               ? ddp_nccl_plan_scratch(ddp_nccl_of(w->group)->plan, w->count)
               : 0;
}

static void free_scratch(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    for (int c = 0; c < g->channels; c++) {
        ddp_device_free(&g->gpu->cuda->base, n->channels[c].scratch);
        n->channels[c].scratch = NULL;
    }
    n->scratch_count = 0;
}

static ddp_status nccl_sum_open(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_group *g = s->sum->group;
    struct ddp_nccl *n = ddp_nccl_of(g);
    size_t count = scratch_of(s->sum);

    if (s->sum->wire == DDP_WIRE_FP8)
        return ddp_fail(err, DDP_ERR_USAGE, "NCCL does not add numbers of 8 bits");
    if (count <= n->scratch_count)
        return DDP_OK;
    free_scratch(g); /* waits for what uses it */
    for (int c = 0; c < g->channels; c++)
        if (ddp_device_alloc(&g->gpu->cuda->base, &n->channels[c].scratch, count, err))
            return err->code;
    n->scratch_count = count;
    return DDP_OK;
}

static void nccl_sum_close(struct ddp_gpu_sum *s)
{
    (void)s;
}

static ddp_status nccl_share(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err)
{
    return ddp_nccl_plan_share(ddp_nccl_of(w->group)->plan, w->count, ranges, count, err);
}

/* Look whether the sum is finite; of a first half, what this rank has the sum of. */
static ddp_status check_finite(struct ddp_gpu_sum *s, const struct ddp_nccl_channel *n,
                               ddp_error *err)
{
    ddp_range *ranges;
    size_t count;

    if (s->sum->phase != DDP_REDUCE_SCATTER) {
        ddp_gpu_check_finite(s, (ddp_range){0, s->sum->count}, n->stream);
        return DDP_OK;
    }
    if (nccl_share(s->sum, &ranges, &count, err))
        return err->code;
    for (size_t i = 0; i < count; i++)
        ddp_gpu_check_finite(s, ranges[i], n->stream);
    free(ranges);
    return DDP_OK;
}

static ddp_status nccl_sum_start(struct ddp_gpu_sum *s, ddp_error *err)
{
    ddp_work *w = s->sum;
    ddp_group *g = w->group;
    struct ddp_nccl *all = ddp_nccl_of(g);
    struct ddp_nccl_channel *n = &all->channels[all->next_channel];
    ddp_status st;

    all->next_channel = (all->next_channel + 1) % g->channels;
    if (n->stream != g->gpu->cuda->comm)
        DDP_CUDA(g->gpu->cuda, cudaStreamWaitEvent(n->stream, s->ready, 0));
    if (w->count_each)
        st = gather_parts(w, n, err);
    else if (w->wire != DDP_WIRE_FP32 && w->phase != DDP_ALL_GATHER)
        st = sum_packed(w, n, err);
    else if (g->gpu->config.exact || w->phase == DDP_ALL_GATHER)
        st = ddp_nccl_ordered_sum(all->plan, w, n, err);
    else if (w->phase == DDP_REDUCE_SCATTER)
        st = ddp_fail(err, DDP_ERR_USAGE, "halves of sums that NCCL orders");
    else
        st = DDP_NCCL(
            g, ncclAllReduce(w->buf, w->buf, w->count, ncclFloat, ncclSum, n->comm, n->stream),
            err);
    if (st)
        return ddp_wrap(err, "%s %d of %d", ddp_work_kind(w->count_each > 0), w->number,
                        g->last_number);
    if (check_finite(s, n, err))
        return err->code;
    DDP_CUDA(g->gpu->cuda, cudaEventRecord(s->landed, n->stream));
    s->queued = 1;
    return DDP_OK;
}

/* Ask what has failed since, on this rank or, as far as NCCL notices, on another. */
static ddp_status nccl_progress(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err)
{
    ncclResult_t state = state_of_all(g);

    (void)s;
    if (state == ncclSuccess || state == ncclInProgress)
        return DDP_OK;
    return ddp_nccl_check(g, state, "a sum", err);
}

/* ---- communicators ---- */

static void nccl_abort(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    for (int c = 0; c < g->channels; c++) {
        if (n->channels[c].comm)
            (void)ncclCommAbort(n->channels[c].comm);
        n->channels[c].comm = NULL;
    }
}

/* On failure what is left is for nccl_abort. */
static void finalize(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);
    ddp_error ignored;

    for (int c = 0; c < g->channels; c++) {
        struct ddp_nccl_channel *channel = &n->channels[c];

        if (!channel->comm || DDP_NCCL(g, ncclCommFinalize(channel->comm), &ignored))
            return;
        (void)ncclCommDestroy(channel->comm);
        channel->comm = NULL;
    }
}

/* The first channel's is the group's own. */
static void close_streams(ddp_group *g)
{
    struct ddp_nccl *n = ddp_nccl_of(g);

    for (int c = 1; c < g->channels; c++)
        if (n->channels[c].stream)
            DDP_CUDA(g->gpu->cuda, cudaStreamDestroy(n->channels[c].stream));
}

/* Memory that a communicator knows goes before it: destroying may go on after the call. */
static void nccl_close(ddp_group *g)
{
    if (g->failure.code)
        nccl_abort(g);
    ddp_nccl_free_all(g);
    if (!g->failure.code)
        finalize(g);
    nccl_abort(g);
    free_scratch(g);
    close_streams(g);
    ddp_nccl_plan_close(ddp_nccl_of(g)->plan);
    free(ddp_nccl_of(g));
}

static ddp_status compare_versions(ddp_group *g, int version, ddp_error *err)
{
    int *all = ddp_allgather_new(g, &version, sizeof version, err);
    ddp_status st = DDP_OK;

    if (!all)
        return err->code;
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

/* NCCL takes "=eth0,eth1" for the interfaces of exactly these names. */
static void choose_interface(void)
{
    char names[256] = "=";

    if (!ddp_group_interface())
        return;
    ddp_net_interface_names(ddp_group_interface(), names + 1, sizeof names - 1);
    if (names[1])
        (void)setenv("NCCL_SOCKET_IFNAME", names, 0);
}

/* NCCL starts a thread for each call that does not block. With DARKNET_DDP_NCCL_BLOCKING=1 in the
 * environment calls block: a peer that never comes is then found by the watchdog alone. */
static int may_block(void)
{
    const char *text = getenv("DARKNET_DDP_NCCL_BLOCKING");

    return text && strcmp(text, "1") == 0;
}

static ddp_status init_communicator(ddp_group *g, struct ddp_nccl_channel *n, ddp_error *err)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    ncclResult_t rc = ncclSuccess;

    if (g->gpu->config.shared)
        pretend_own_host(g);
    config.blocking = may_block();
    if (g->gpu->config.ctas > 0)
        config.maxCTAs = g->gpu->config.ctas;
    memset(&id, 0, sizeof id);
    if (g->rank == 0)
        rc = ncclGetUniqueId(&id);
    if (ddp_nccl_check(g, rc, "ncclGetUniqueId", err) || ddp_broadcast(g, &id, sizeof id, 0, err))
        return err->code;
    return DDP_NCCL(g, ncclCommInitRankConfig(&n->comm, g->size, id, g->rank, &config), err);
}

static ddp_status open_channels(ddp_group *g, struct ddp_nccl *n, ddp_error *err)
{
    int lowest = 0, highest = 0;

    choose_interface();
    DDP_CUDA(g->gpu->cuda, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    n->channels[0].stream = g->gpu->cuda->comm;
    for (int c = 0; c < g->channels; c++) {
        if (c > 0)
            DDP_CUDA(g->gpu->cuda, cudaStreamCreateWithPriority(&n->channels[c].stream,
                                                                cudaStreamNonBlocking, highest));
        if (init_communicator(g, &n->channels[c], err))
            return err->code;
    }
    return DDP_OK;
}

/* Where NCCL sums, second halves alone go by the plan, and any number of ranks may. */
static ddp_status open_plan(ddp_group *g, struct ddp_nccl *n, ddp_error *err)
{
    return ddp_nccl_plan_open(&n->plan, &g->places, g->rank, g->wants_hierarchical ? g->radix : 0,
                              g->gpu->config.exact ? DDP_CUDA_NODES : 0, err);
}

static const struct ddp_gpu_transport transport = {
    .close = nccl_close,
    .abort = nccl_abort,
    .sum_open = nccl_sum_open,
    .sum_close = nccl_sum_close,
    .sum_start = nccl_sum_start,
    .share = nccl_share,
    .progress = nccl_progress,
    .alloc = ddp_nccl_alloc,
    .free = ddp_nccl_free,
};

ddp_status ddp_nccl_open(ddp_group *g, ddp_error *err)
{
    struct ddp_nccl *n = calloc(1, sizeof *n);

    if (!n)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for NCCL");
    g->gpu->transport = transport;
    g->gpu->transport.state = n;
    if (check_version(g, n, err) || open_plan(g, n, err) || open_channels(g, n, err)) {
        nccl_abort(g);
        close_streams(g);
        ddp_nccl_plan_close(n->plan);
        free(n);
        g->gpu->transport = (struct ddp_gpu_transport){0};
        return err->code;
    }
    (void)snprintf(g->gpu->transport.name, sizeof transport.name, "nccl %d.%d.%d",
                   n->version / 10000, n->version / 100 % 100, n->version % 100);
    if (g->gpu->config.exact)
        g->gpu->transport.schedule = n->plan->schedule;
    return DDP_OK;
}
