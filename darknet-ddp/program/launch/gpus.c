#include "launch/gpus.h"

#include "algorithms/algorithm.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef DDP_WITH_CUDA
static const int in_build = 1;
#else
static const int in_build = 0;
#endif

enum { NAME_BYTES = 96 };

static ddp_gpu_wish wish_of(const ddp_options *o)
{
    return (ddp_gpu_wish){.list = o->gpus, .gpu = o->gpu};
}

void ddp_gpus_release(ddp_gpus *g)
{
    free(g->placements);
    g->placements = NULL;
}

int ddp_gpus_wanted(const ddp_options *options)
{
    return in_build && !options->nogpu;
}

int ddp_gpus_use_nccl(const ddp_group *group)
{
    return strncmp(ddp_group_transport(group), "nccl", 4) == 0;
}

/* ---- before the start ---- */

static ddp_status check_cpus(const ddp_options *o, ddp_error *err)
{
    if (o->gpus.count > 0 && in_build)
        return ddp_fail(err, DDP_ERR_USAGE, "-gpus names GPUs, and -nogpu wants none");
    if (o->gpus.count > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-gpus names GPUs, and this build is for CPUs; -ddp_ranks N starts N ranks "
                        "on this host");
    if (o->gpu >= 0 && !in_build && !o->nogpu)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-i names GPU %d, and this build is for CPUs; leave -i out", o->gpu);
    if (o->backend == DDP_BACKEND_NCCL)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_backend nccl is for GPUs, and %s",
                        in_build ? "-nogpu trains on CPUs" : "this build is for CPUs");
    return DDP_OK;
}

/* Drivers that are too old, or not running, look like no GPU. */
static ddp_status add_cause(ddp_error *err)
{
    size_t used = strlen(err->text);

    if (ddp_device_count() == 0)
        (void)snprintf(err->text + used, sizeof err->text - used, " (CUDA: %s)",
                       ddp_device_why_none());
    return err->code;
}

static ddp_status check_gpus(const ddp_options *o, ddp_launcher launcher, int ranks, ddp_error *err)
{
    const ddp_gpu_wish wish = wish_of(o);
    int seen = ddp_device_count();
    char host[256] = "";

    if (o->gpus.count > 0 && o->gpu >= 0)
        return ddp_fail(err, DDP_ERR_USAGE, "-gpus and -i %d both name GPUs; give one of them",
                        o->gpu);
    if (launcher.ranks == 0 && o->ranks > 0 && o->gpus.count > 0 && o->gpus.count != o->ranks)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "-gpus starts a rank for each of %d GPU%s, and -ddp_ranks %d another number",
            o->gpus.count, o->gpus.count == 1 ? "" : "s", o->ranks);
    if (launcher.ranks > 0 && seen > 0)
        return DDP_OK; /* ddp_gpus_open knows more */
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    return ddp_gpu_check_start(&wish, host, ranks, seen, err) ? add_cause(err) : DDP_OK;
}

ddp_status ddp_gpus_check(const ddp_options *options, ddp_launcher launcher, int *to_start,
                          ddp_error *err)
{
    int ranks = options->gpus.count > options->ranks ? options->gpus.count : options->ranks;

    *to_start = 0;
    if (ddp_gpus_wanted(options) ? check_gpus(options, launcher, ranks, err)
                                 : check_cpus(options, err))
        return err->code;
    if (launcher.ranks > 0)
        ranks = launcher.ranks;
    if (ranks > 1 && options->backend == DDP_BACKEND_SOLO)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_backend solo is for one process, not for %d",
                        ranks);
    if (launcher.ranks == 0 && ranks > 1)
        *to_start = ranks;
    return DDP_OK;
}

/* ---- on all ranks ---- */

static ddp_status place(ddp_gpu_placement *placement, const ddp_group *group,
                        const ddp_gpu_wish *wish, ddp_error *err)
{
    *placement = (ddp_gpu_placement){.local_rank = ddp_group_local_rank(group),
                                     .local_size = ddp_group_local_size(group),
                                     .seen = ddp_device_count()};
    (void)snprintf(placement->host, sizeof placement->host, "%s",
                   ddp_group_host(group, ddp_group_rank(group)));
    if (ddp_gpu_choose(placement, wish, err))
        return add_cause(err);
    ddp_device_identify(placement->gpu, placement->identity, sizeof placement->identity);
    return DDP_OK;
}

static ddp_status choose(ddp_gpus *g, ddp_group *group, const ddp_gpu_wish *wish, ddp_error *err)
{
    int size = ddp_group_size(group);
    ddp_gpu_placement mine;

    g->named = wish->list.count > 0 || wish->gpu >= 0;
    if (place(&mine, group, wish, err))
        return err->code;
    g->gpu = mine.gpu;
    g->placements = ddp_allgather_new(group, &mine, sizeof mine, err);
    if (!g->placements || ddp_gpu_check_placements(g->placements, size, wish, err))
        return err->code;
    for (int r = 0; r < size; r++)
        g->shared |= g->placements[r].shared;
    return DDP_OK;
}

/* NCCL's failure to start is said by all ranks alike: none is left with a GPU. */
static ddp_status use_gpu(ddp_group *group, const ddp_options *o, ddp_gpu_config *config,
                          ddp_error *err)
{
    ddp_status st = ddp_group_use_gpu(group, config, err);

    if (!config->nccl || o->backend != DDP_BACKEND_AUTO
        || (st != DDP_ERR_USAGE && st != DDP_ERR_MISMATCH))
        return st;
    if (ddp_group_rank(group) == 0)
        printf("DDP: sums go through host memory, since NCCL cannot be used: %s\n", err->text);
    config->nccl = 0;
    return ddp_group_use_gpu(group, config, err);
}

static void add_name(char *names, size_t size, const char *name)
{
    size_t used = strlen(names);

    if (!strstr(names, name))
        (void)snprintf(names + used, size - used, "%s%s", used ? ", " : "GPU ", name);
}

/* The kinds of GPU that ranks have, in the order of the ranks. */
static ddp_status gather_names(ddp_gpus *g, ddp_group *group, ddp_error *err)
{
    char mine[NAME_BYTES] = "", (*all)[NAME_BYTES];

    (void)snprintf(mine, sizeof mine, "%s", ddp_device_name(ddp_group_device(group)));
    all = ddp_allgather_new(group, mine, sizeof mine, err);
    if (!all)
        return err->code;
    g->names[0] = '\0';
    for (int r = 0; r < ddp_group_size(group); r++)
        add_name(g->names, sizeof g->names, all[r]);
    free(all);
    return DDP_OK;
}

/* Why an option of NCCL's does nothing; NULL: it does. */
static const char *without_nccl(const ddp_group *group)
{
    if (!in_build)
        return "this build is for CPUs";
    if (ddp_device_is_host(ddp_group_device(group)))
        return "-nogpu trains on CPUs";
    return ddp_gpus_use_nccl(group) ? NULL : "sums do not go through NCCL";
}

static void say_if_useless(const ddp_group *group, const ddp_options *options)
{
    const char *why = options->nccl_ctas > 0 ? without_nccl(group) : NULL;

    if (why && ddp_group_rank(group) == 0)
        printf("DDP: -ddp_nccl_ctas %d does nothing: %s\n", options->nccl_ctas, why);
}

/* Are sums made in two halves? Those of float32 are, in an order that is not NCCL's; those of 16
 * bits are made whole. */
static int sums_halves(const ddp_options *o)
{
    return ddp_algorithms_find_sharded(o)
           && ddp_compress_choice_wire(&o->compress) == DDP_WIRE_FP32;
}

/* The advice where NCCL fails: an option with which the ranks connect as before and do without it.
 */
static const char *without_it(const ddp_options *o)
{
    return o->rendezvous ? "-ddp_backend gloo does without NCCL"
                         : "-ddp_backend mpi does without NCCL";
}

static ddp_status check_wire(const ddp_group *group, const ddp_options *o, int nccl, ddp_error *err)
{
    if (!nccl || ddp_group_size(group) == 1
        || ddp_compress_choice_wire(&o->compress) != DDP_WIRE_FP8)
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "NCCL does not add numbers of 8 bits, as -ddp_compress fp8 asks: bf16 goes with "
        "it, and %s",
        without_it(o));
}

static ddp_status take_gpu(ddp_gpus *out, ddp_group *group, const ddp_options *options,
                           void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                           ddp_error *err)
{
    const ddp_gpu_wish wish = wish_of(options);
    ddp_gpu_config config = {.exact = options->exact || sums_halves(options),
                             .ctas = options->nccl_ctas,
                             .without_nccl = without_it(options),
                             .fail = fail};
    int backend = options->backend;

    config.nccl = backend == DDP_BACKEND_NCCL || backend == DDP_BACKEND_AUTO;
    if (check_wire(group, options, config.nccl, err) || choose(out, group, &wish, err))
        return err->code;
    config.gpu = out->gpu;
    config.shared = out->placements[ddp_group_rank(group)].shared;
    if (use_gpu(group, options, &config, err))
        return err->code;
    return gather_names(out, group, err);
}

ddp_status ddp_gpus_open(ddp_gpus *out, ddp_group *group, const ddp_options *options,
                         void (*fail)(const ddp_error *err) __attribute__((noreturn)),
                         ddp_error *err)
{
    *out = (ddp_gpus){.gpu = -1, .names = "CPU"};
    if (ddp_gpus_wanted(options) && take_gpu(out, group, options, fail, err))
        return err->code;
    say_if_useless(group, options);
    return DDP_OK;
}
