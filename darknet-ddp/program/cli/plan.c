#include "algorithms/compressor.h"
#include "base/plural.h"
#include "cli/commands.h"
#include "cli/forecast.h"
#include "core/batch.h"
#include "core/bucket_plan.h"
#include "device/wire.h"
#include "glue/param_table.h"
#include "launch/gpus.h"
#include "run/banner.h"
#include "show/rank_output.h"

#include <stdio.h>

static size_t parameter_count(const ddp_param_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->param_count; i++)
        count += table->params[i].count;
    return count;
}

static void print_buckets(const ddp_bucket_plan *plan)
{
    printf("bucket    layers            arrays         MB\n");
    for (size_t b = 0; b < plan->bucket_count; b++) {
        const ddp_bucket *bucket = &plan->buckets[b];

        printf("%6zu  %4d to %-4d  %12zu  %9.3f\n", b + 1, bucket->first_layer, bucket->last_layer,
               bucket->param_count, (double)bucket->count * 4 / 1e6);
    }
}

/* Return how many bytes the sums of a step have, as the mean of both halves of a sum. If an
 * algorithm makes the second half, that half brings parameters, as float32. */
static double bytes_of(const ddp_param_table *table, const ddp_bucket_plan *plan, int ranks,
                       const ddp_options *o)
{
    double there = ddp_wire_mean_bytes(ddp_compress_choice_wire(&o->compress));
    double back = ddp_algorithms_find_sharded(o) ? sizeof(float) : there, count = 0;

    if (!ddp_compress_choice_compresses(&o->compress))
        return (double)plan->count * (there + back) / 2;
    for (size_t i = 0; i < table->param_count; i++)
        if (table->params[i].layer >= table->first_trained)
            count +=
                (double)ddp_compressor_sends(o, &table->params[i], ranks) + 1; /* a run count */
    return count * sizeof(float);
}

static void print_totals(const ddp_param_table *table, const ddp_bucket_plan *plan, int ranks,
                         const ddp_options *o)
{
    double bytes = bytes_of(table, plan, ranks, o), buffers = 0;

    for (size_t i = 0; i < table->buffer_count; i++)
        buffers += (double)table->buffers[i].count * 4;
    printf("%zu bucket%s, %.3f MB of gradients, %.3f MB of BatchNorm statistics\n",
           plan->bucket_count, ddp_plural(plan->bucket_count), (double)plan->count * 4 / 1e6,
           buffers / 1e6);
    if (table->first_trained > 0)
        printf("layers 0 to %d are frozen and not sent\n", table->first_trained - 1);
    printf("%d rank%s: each sends and receives %.3f MB a step, %.3f s at %g Gbit/s\n", ranks,
           ddp_plural((size_t)ranks), 2 * bytes * (ranks - 1) / ranks / 1e6,
           2 * bytes * (ranks - 1) / ranks * 8 / 1e9 / o->line_gbit, o->line_gbit);
}

static void print_batch(const ddp_network_shape *shape, int ranks, ddp_batch_mode mode)
{
    ddp_batch batch;
    ddp_error err;

    if (ddp_batch_split(&batch, shape->batch, shape->subdivisions, ranks, mode, ddp_options_names(),
                        &err)) {
        printf("%s\n", err.text);
        return;
    }
    batch.time_steps = shape->time_steps;
    ddp_banner_print_batch(stdout, batch, ranks);
    printf("%s\n", batch.resplit ? ", smaller than the cfg's" : "");
}

static int ranks_of(const ddp_options *o)
{
    if (o->np)
        return o->np;
    if (o->ranks)
        return o->ranks;
    return o->gpus.count > 0 ? o->gpus.count : 2;
}

int ddp_command_plan(const ddp_command_call *call)
{
    const char *cfg = call->words[0];
    const ddp_options *options = call->options;
    const double mib = 1 << 20;
    int nccl = ddp_gpus_wanted(options)
               && (options->backend == DDP_BACKEND_AUTO || options->backend == DDP_BACKEND_NCCL);
    int ranks = ranks_of(options);
    ddp_network_shape shape;
    network *net;
    ddp_param_table table;
    ddp_bucket_plan *plan;
    ddp_error err;

    if (options->host_count > ranks && (options->np || !options->profile)) {
        (void)ddp_fail(&err, DDP_ERR_USAGE, "-hosts %d: %d rank%s cannot be on so many",
                       options->host_count, ranks, ddp_plural((size_t)ranks));
        ddp_rank_output_failure(&err);
    }
    if (ddp_compressor_check_ranks(options, ranks, &err))
        ddp_rank_output_failure(&err);
    net = ddp_command_load(&shape, cfg, options, -1, 0);
    if (ddp_param_table_init(&table, net, ddp_device_host(), &err)
        || ddp_bucket_plan_open(&plan, &table, (size_t)(ddp_options_bucket_mb(options, nccl) * mib),
                                (size_t)(ddp_options_first_bucket_mb(options) * mib), &err))
        ddp_rank_output_failure(&err);
    printf("%s: %d layers, %zu parameters in %zu arrays\n", cfg, shape.layers,
           parameter_count(&table), table.param_count);
    if (nccl)
        printf("buckets as NCCL has them; with -ddp_backend mpi or gloo, or -nogpu, as MPI has "
               "them\n");
    print_buckets(plan);
    print_totals(&table, plan, ranks, options);
    print_batch(&shape, ranks, (ddp_batch_mode)options->batch);
    if (options->profile && ddp_forecast_print(plan, &shape, options, &err))
        ddp_rank_output_failure(&err);
    ddp_bucket_plan_close(plan);
    ddp_param_table_release(&table);
    ddp_network_free(net);
    return 0;
}
