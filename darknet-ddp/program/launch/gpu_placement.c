#include "launch/gpu_placement.h"

#include "base/plural.h"

#include <stdio.h>
#include <string.h>

/* "0,1,0,1": a list with which `ranks` ranks share the GPUs that are seen. */
static void write_list(char *text, size_t size, int ranks, int seen)
{
    size_t used = 0;

    text[0] = '\0';
    for (int r = 0; r < ranks && r < DDP_GPU_LIST_MAX && used + 8 < size; r++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", r ? "," : "", r % seen);
}

static ddp_status refuse_ranks(const char *host, int ranks, int seen, ddp_error *err)
{
    char list[160];

    write_list(list, sizeof list, ranks, seen);
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%d rank%s on host %s, which has %d GPU%s: start %d rank%s there, or let ranks "
                    "share them, to test, with -gpus %s",
                    ranks, ddp_plural((size_t)ranks), host, seen, ddp_plural((size_t)seen), seen,
                    ddp_plural((size_t)seen), list);
}

static ddp_status check_seen(const char *option, int gpu, const char *host, int seen,
                             ddp_error *err)
{
    if (gpu < seen)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s names GPU %d, but host %s has %d GPU%s, numbered from 0", option, gpu, host,
                    seen, ddp_plural((size_t)seen));
}

static ddp_status refuse_without_gpu(const char *host, ddp_error *err)
{
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "this build is for GPUs, and host %s has none that CUDA can use; with -nogpu it "
        "trains on CPUs",
        host);
}

ddp_status ddp_gpu_check_start(const ddp_gpu_wish *wish, const char *host, int ranks, int seen,
                               ddp_error *err)
{
    if (seen == 0)
        return refuse_without_gpu(host, err);
    for (int i = 0; i < wish->list.count; i++)
        if (check_seen("-gpus", wish->list.gpus[i], host, seen, err))
            return err->code;
    if (wish->list.count > 0)
        return DDP_OK;
    if (wish->gpu >= 0 && ranks > 1)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-i %d names one GPU for %d ranks; -gpus with a number for each rank of a "
                        "host gives each its own",
                        wish->gpu, ranks);
    if (wish->gpu >= 0)
        return check_seen("-i", wish->gpu, host, seen, err);
    return ranks > seen ? refuse_ranks(host, ranks, seen, err) : DDP_OK;
}

ddp_status ddp_gpu_choose(ddp_gpu_placement *placement, const ddp_gpu_wish *wish, ddp_error *err)
{
    const ddp_gpu_list *list = &wish->list;

    if (placement->seen == 0)
        return refuse_without_gpu(placement->host, err);
    if (list->count > 0 && list->count < placement->local_size)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%d ranks on host %s, and -gpus names %d GPU%s: it wants a number for each "
                        "rank of a host (several ranks may share a GPU, to test)",
                        placement->local_size, placement->host, list->count,
                        ddp_plural((size_t)list->count));
    if (list->count > 0)
        placement->gpu = list->gpus[placement->local_rank];
    else if (wish->gpu >= 0)
        placement->gpu = wish->gpu;
    else /* ranks that see fewer GPUs than they are may each see others */
        placement->gpu = placement->local_rank % placement->seen;
    return check_seen(list->count > 0 ? "-gpus" : "-i", placement->gpu, placement->host,
                      placement->seen, err);
}

static int same_gpu(const ddp_gpu_placement *a, const ddp_gpu_placement *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->identity, b->identity) == 0;
}

/* Ranks a and b have the same GPU, and nobody asked for that. */
static ddp_status refuse_shared(const ddp_gpu_placement *placements, int a, int b,
                                const ddp_gpu_wish *wish, ddp_error *err)
{
    const ddp_gpu_placement *placement = &placements[b];

    if (wish->gpu < 0 && placement->local_size > placement->seen)
        return refuse_ranks(placement->host, placement->local_size, placement->seen, err);
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "ranks %d and %d on host %s would both compute on one GPU, %d for one and %d for "
        "the other; -gpus with a number for each rank of a host gives each its own",
        a, b, placement->host, placements[a].gpu, placements[b].gpu);
}

ddp_status ddp_gpu_check_placements(ddp_gpu_placement *placements, int ranks,
                                    const ddp_gpu_wish *wish, ddp_error *err)
{
    for (int b = 0; b < ranks; b++)
        for (int a = 0; a < b; a++) {
            if (!same_gpu(&placements[a], &placements[b]))
                continue;
            if (wish->list.count == 0 || placements[a].gpu != placements[b].gpu)
                return refuse_shared(placements, a, b, wish, err);
            placements[a].shared = placements[b].shared = 1;
        }
    return DDP_OK;
}
