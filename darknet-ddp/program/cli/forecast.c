#include "cli/forecast.h"

#include "algorithms/algorithm.h"
#include "algorithms/launch_policy.h"
#include "base/plural.h"
#include "bench/forecast.h"
#include "comm/group_schedule.h"
#include "core/batch.h"
#include "core/layer_profile.h"
#include "device/wire.h"

#include <stdio.h>

enum { MOST_RANKS = 1024 };

static int most_ranks(const ddp_options *o)
{
    return o->np ? o->np : MOST_RANKS;
}

/* How many hosts so many ranks take: with all ranks the hosts that options name, with fewer ranks
 * as many of them as these fill. */
static int hosts_of(const ddp_options *o, int ranks)
{
    int most = most_ranks(o);
    int hosts = o->host_count && o->host_count < most ? o->host_count : most;
    int each = (most + hosts - 1) / hosts; /* ranks a host, at most */

    return ranks == most ? hosts : (ranks + each - 1) / each;
}

static ddp_status print_row(ddp_forecast_config *c, const ddp_network_shape *shape,
                            const ddp_options *o, ddp_error *err)
{
    ddp_batch_mode mode = (ddp_batch_mode)o->batch;
    ddp_forecast p;
    ddp_batch batch;
    ddp_error why;
    int images;

    c->hosts = hosts_of(o, c->ranks);
    if (ddp_batch_split(&batch, shape->batch, shape->subdivisions, c->ranks, mode, NULL, &why)) {
        printf("%5d  %5d   batch %d cannot be cut evenly over them\n", c->ranks, c->hosts,
               shape->batch);
        return DDP_OK;
    }
    images = batch.batch * shape->time_steps;
    c->mini_batches = batch.per_rank * o->sync_every;
    c->scale = (double)batch.images * shape->time_steps / c->profile->images;
    if (ddp_forecast_step(&p, c, err))
        return err->code;
    printf("%5d  %5d  %8d  %9.4f  %9.4f  %9.4f  %9.4f  %9.1f %%  %11.1f  %s\n", c->ranks, c->hosts,
           images, p.local, p.step, p.step - p.local, p.wire, 100 * p.local / p.step,
           images * o->sync_every / p.step, p.schedule);
    return DDP_OK;
}

static ddp_status print_rows(ddp_forecast_config *c, const ddp_network_shape *shape,
                             const ddp_options *o, ddp_error *err)
{
    int most = most_ranks(o);

    printf("ranks  hosts    images    local s     step s  exposed s     wire s  efficiency    "
           "images/s  sums\n");
    for (c->ranks = 1; c->ranks < most; c->ranks *= 2)
        if (print_row(c, shape, o, err))
            return err->code;
    c->ranks = most;
    return print_row(c, shape, o, err);
}

ddp_status ddp_forecast_print(const ddp_bucket_plan *plan, const ddp_network_shape *shape,
                              const ddp_options *o, ddp_error *err)
{
    ddp_forecast_config c = {.plan = plan,
                             .overlap = o->overlap,
                             .bytes_s = o->line_gbit * 1e9 / 8,
                             .value_bytes =
                                 ddp_wire_mean_bytes(ddp_compress_choice_wire(&o->compress)),
                             .schedule = (ddp_schedule)o->schedule};
    ddp_launch_policy policy;
    ddp_layer_profile profile;
    char compress[DDP_COMPRESS_TEXT];
    ddp_status st;

    if (ddp_compress_choice_compresses(&o->compress))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-profile predicts sums of whole gradients, with -ddp_compress none, bf16, "
                        "fp16 or fp8, not %s",
                        ddp_compress_choice_format(&o->compress, compress));
    if (ddp_algorithms_find_sharded(o))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-profile predicts sums of gradients that all ranks get, not those of %s",
                        ddp_algorithms_find_sharded(o)->example);
    st = ddp_layer_profile_read(&profile, o->profile, shape->layers, err);
    if (!st) {
        policy = ddp_launch_policy_of(o, most_ranks(o), profile.on_gpu);
        c.profile = &profile;
        c.order =
            (ddp_launch_order){.sums = plan->bucket_count,
                               .deferred = ddp_launch_order_deferred(plan, policy.defer_bytes)};
        c.priority = policy.priority;
        printf("predicted from %s (%s, %d image%s a mini-batch), %g Gbit/s a host:\n", o->profile,
               profile.on_gpu ? "GPU" : "CPU", profile.images, ddp_plural((size_t)profile.images),
               o->line_gbit);
        if (o->sync_bn)
            printf("(without the waits of -ddp_sync_bn, which are not known)\n");
        st = print_rows(&c, shape, o, err);
    }
    ddp_layer_profile_release(&profile);
    return st;
}
