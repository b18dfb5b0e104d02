#include "run/banner.h"

#include "algorithms/launch_policy.h"
#include "base/plural.h"
#include "comm/group_gpu.h"
#include "comm/group_schedule.h"
#include "device/wire.h"
#include "launch/launcher_env.h"
#include "run/bf16.h"

#include <string.h>

static int on_host(const ddp_group *group, int rank, int first)
{
    return strcmp(ddp_group_host(group, rank), ddp_group_host(group, first)) == 0;
}

static int is_new_host(const ddp_group *group, int rank)
{
    for (int r = 0; r < rank; r++)
        if (on_host(group, r, rank))
            return 0;
    return 1;
}

/* A launcher may show each rank its own GPUs, under the same numbers. */
static int numbers_are_the_hosts(const ddp_group *group, const ddp_gpu_placement *placements,
                                 int first)
{
    int size = ddp_group_size(group);

    for (int b = first; b < size; b++)
        for (int a = first; a < b; a++)
            if (on_host(group, a, first) && on_host(group, b, first)
                && placements[a].gpu == placements[b].gpu
                && strcmp(placements[a].identity, placements[b].identity) != 0)
                return 0;
    return 1;
}

/* ": GPUs 0,1", those of the host's ranks in turn. */
static void print_gpus_of_host(FILE *out, const ddp_group *group,
                               const ddp_gpu_placement *placements, int first)
{
    int size = ddp_group_size(group), ranks = placements[first].local_size;

    if (!numbers_are_the_hosts(group, placements, first)) {
        (void)fprintf(out, ": %d GPUs", ranks);
        return;
    }
    (void)fprintf(out, ": GPU%s ", ddp_plural((size_t)ranks));
    for (int r = first; r < size; r++)
        if (on_host(group, r, first))
            (void)fprintf(out, "%s%d", r > first ? "," : "", placements[r].gpu);
}

static void print_ranks(FILE *out, const ddp_group *group, const ddp_gpus *gpus)
{
    int size = ddp_group_size(group), hosts = 0;

    for (int r = 0; r < size; r++)
        hosts += is_new_host(group, r);
    (void)fprintf(out, "DDP: %d rank%s on %d host%s (", size, ddp_plural((size_t)size), hosts,
                  ddp_plural((size_t)hosts));
    for (int r = 0; r < size; r++) {
        if (!is_new_host(group, r))
            continue;
        (void)fprintf(out, "%s%s",
                      r == 0             ? ""
                      : gpus->placements ? "; "
                                         : " ",
                      ddp_group_host(group, r));
        if (gpus->placements)
            print_gpus_of_host(out, group, gpus->placements, r);
    }
    (void)fprintf(out, "), %s, transport %s\n", gpus->names, ddp_group_transport(group));
}

static void print_schedule(FILE *out, const ddp_group *group)
{
    if (ddp_group_size(group) > 1 && ddp_group_schedule(group))
        (void)fprintf(out, "DDP: sums over ranks: %s\n", ddp_group_schedule(group));
}

static void print_channels(FILE *out, const ddp_group *group)
{
    if (ddp_group_channels(group) > 1)
        (void)fprintf(out, "DDP: sums take turns at %d %s communicators\n",
                      ddp_group_channels(group), ddp_group_sums_on_host(group) ? "MPI" : "NCCL");
}

static void print_wire(FILE *out, const ddp_options *o, const ddp_group *group)
{
    ddp_wire wire = ddp_compress_choice_wire(&o->compress);

    if (ddp_group_size(group) > 1 && wire != DDP_WIRE_FP32)
        (void)fprintf(out, "DDP: gradients travel as %s and are added in float32\n",
                      ddp_wire_name(wire));
}

/* How many GPUs the host has as far as its ranks see them: a launcher may hide some from each. */
static int gpus_of_host(const ddp_gpu_placement *placement)
{
    return placement->seen > placement->local_size ? placement->seen : placement->local_size;
}

/* " -H hosta:4,hostb:4": a rank for each GPU; nothing where there is one host. */
static void print_slots(FILE *out, const ddp_group *group, const ddp_gpu_placement *placements)
{
    int size = ddp_group_size(group);

    if (placements[0].local_size == size)
        return;
    for (int r = 0; r < size; r++)
        if (is_new_host(group, r))
            (void)fprintf(out, "%s%s:%d", r ? "," : " -H ", placements[r].host,
                          gpus_of_host(&placements[r]));
}

/* -gpus has a GPU for each rank of a host: some host may have fewer ranks. */
static void print_unused_names(FILE *out, const ddp_group *group,
                               const ddp_gpu_placement *placements, int named)
{
    for (int r = 0; r < ddp_group_size(group); r++) {
        int ranks = placements[r].local_size;

        if (ranks >= named)
            continue;
        (void)fprintf(out,
                      "DDP: -gpus names %d GPUs, but host %s has %d rank%s: the others are idle\n",
                      named, placements[r].host, ranks, ddp_plural((size_t)ranks));
        return;
    }
}

/* Not where the command line names GPUs: it may leave the others to other jobs. */
static void print_idle_gpus(FILE *out, const ddp_group *group, const ddp_gpus *gpus,
                            const ddp_options *options)
{
    int size = ddp_group_size(group), all = 0;

    for (int r = 0; r < size; r++)
        if (is_new_host(group, r))
            all += gpus_of_host(&gpus->placements[r]);
    if (gpus->named || all == size)
        return;
    (void)fprintf(out, "DDP: %d of %d GPUs %s idle: ", all - size, all,
                  all - size == 1 ? "is" : "are");
    if (options->ranks > 0 || ddp_launcher_read().ranks == 0) {
        (void)fprintf(out, "-ddp_ranks %d would use them all\n", all);
        return;
    }
    (void)fprintf(out, "%d ranks would use them all (mpirun -np %d", all, all);
    print_slots(out, group, gpus->placements);
    (void)fprintf(out, ")\n");
}

static void print_gpus(FILE *out, const ddp_group *group, const ddp_gpus *gpus,
                       const ddp_options *options)
{
    if (gpus->gpu < 0)
        return;
    print_idle_gpus(out, group, gpus, options);
    print_unused_names(out, group, gpus->placements, options->gpus.count);
    if (gpus->shared)
        (void)fprintf(out, "DDP: ranks share a GPU, which is for tests: it makes nothing faster\n");
    if (options->fp32 || options->deterministic)
        (void)fprintf(out, "DDP: convolutions %s%s%s\n", options->fp32 ? "without TF32" : "",
                      options->fp32 && options->deterministic ? ", " : "",
                      options->deterministic ? "by deterministic algorithms" : "");
}

void ddp_banner_print_batch(FILE *out, ddp_batch batch, int ranks)
{
    (void)fprintf(out, "batch %d = %d rank%s x %d mini-batch%s x %d image%s",
                  batch.batch * batch.time_steps, ranks, ddp_plural((size_t)ranks), batch.per_rank,
                  batch.per_rank == 1 ? "" : "es", batch.images, ddp_plural((size_t)batch.images));
    if (batch.time_steps > 1)
        (void)fprintf(out, " x %d time steps", batch.time_steps);
}

static void print_batch(FILE *out, const ddp_group *group, const ddp_trainer *t,
                        const ddp_options *options)
{
    ddp_batch batch = ddp_trainer_batch(t);
    int size = ddp_group_size(group);

    (void)fprintf(out, "DDP: ");
    ddp_banner_print_batch(out, batch, size);
    if (options->sync_every > 1)
        (void)fprintf(out, ", an update every %d batches", options->sync_every);
    (void)fprintf(out, "\n");
    if (options->sync_bn && size > 1)
        (void)fprintf(out, "DDP: BatchNorm over %d images, those of %d mini-batches\n",
                      size * batch.images, size);
    else if (batch.resplit)
        (void)fprintf(out,
                      "DDP: these mini-batches are smaller than the cfg's, so BatchNorm sees fewer "
                      "images at a time; subdivisions=%d in the cfg would be the same\n",
                      batch.subdivisions);
    if (options->batch == DDP_BATCH_RANK && size > 1)
        (void)fprintf(out,
                      "DDP: learning rate x %d for %d times the batch; max_batches, steps and "
                      "burn_in count these larger batches\n",
                      size, size);
}

/* Say so where priority was asked for and cannot be had. */
static void print_priority(FILE *out, const ddp_group *group, const ddp_trainer *t,
                           const ddp_options *options)
{
    int on_gpus = !ddp_device_is_host(ddp_trainer_table(t)->device);
    const char *why = ddp_launch_policy_of(options, ddp_group_size(group), on_gpus).fixed;

    if (options->priority == 1 && why)
        (void)fprintf(out,
                      "DDP: -ddp_priority 1 does nothing here: %s goes in an order that is fixed\n",
                      why);
}

static void print_buckets(FILE *out, const ddp_group *group, const ddp_trainer *t,
                          const ddp_options *options)
{
    const ddp_param_table *table = ddp_trainer_table(t);
    const ddp_bucket_plan *plan = ddp_reducer_plan(ddp_trainer_reducer(t));
    size_t trained = 0, all = 0;

    for (size_t i = 0; i < table->param_count; i++) {
        all += table->params[i].count;
        if (table->params[i].layer >= table->first_trained)
            trained += table->params[i].count;
    }
    (void)fprintf(out, "DDP: %.1f M parameters, %.1f MB of gradients in %zu bucket%s, overlap %s",
                  (double)all / 1e6, (double)trained * 4 / 1e6, plan->bucket_count,
                  ddp_plural(plan->bucket_count), options->overlap ? "on" : "off");
    if (table->first_trained > 0)
        (void)fprintf(out, ", layers 0 to %d frozen", table->first_trained - 1);
    (void)fprintf(out, "\n");
    if (trained == 0 && all > 0)
        (void)fprintf(out, "DDP: nothing is learnt: stopbackward=1 freezes all layers that have "
                           "parameters\n");
    print_priority(out, group, t, options);
    if (options->exact)
        (void)fprintf(out, "DDP: exact, with %.1f MB for sums of some mini-batches\n",
                      (double)ddp_reducer_tree_bytes(ddp_trainer_reducer(t)) / 1e6);
}

void ddp_banner_print(FILE *out, const ddp_group *group, const ddp_gpus *gpus, const ddp_trainer *t,
                      const ddp_options *options, uint64_t seed)
{
    print_ranks(out, group, gpus);
    print_schedule(out, group);
    print_channels(out, group);
    print_wire(out, options, group);
    print_gpus(out, group, gpus, options);
    ddp_bf16_run_print(out, options, t);
    print_batch(out, group, t, options);
    ddp_algorithm_set_print(ddp_trainer_algorithms(t), out);
    print_buckets(out, group, t, options);
    (void)fprintf(out, "DDP: seed %llu\n", (unsigned long long)seed);
}
