/* The algorithm of -ddp_shard_optimizer, as the trainer calls it (algorithms/algorithm.h): each
 * rank keeps moments only for its share of the parameters. shard.h says how shares are updated
 * and sent. On one rank it does nothing. */
#include "algorithms/zero1/shard.h"

#include "algorithms/algorithm.h"
#include "core/reducer.h"
#include "options/options.h"

#include <stdlib.h>

struct zero1 {
    ddp_group *group;
    ddp_reducer *reducer; /* while attached */
    ddp_shard *shard;
};

static int is_on(const ddp_options *o)
{
    return o->shard_optimizer;
}

static ddp_status open_zero1(void **self, const ddp_algorithm_of *of, ddp_error *err)
{
    struct zero1 *z;

    if (ddp_group_size(of->group) == 1)
        return DDP_OK;
    z = calloc(1, sizeof *z);
    if (!z)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a share of the optimizer's state");
    z->group = of->group;
    *self = z;
    return DDP_OK;
}

static ddp_status attach(void *self, const ddp_attached *a, ddp_error *err)
{
    struct zero1 *z = self;
    const ddp_shard_of of = {.group = z->group,
                             .table = a->table,
                             .plan = ddp_reducer_plan(a->reducer),
                             .memory = ddp_reducer_memory(a->reducer),
                             .sums = ddp_reducer_sharded_sums(a->reducer),
                             .root = a->root,
                             .saved_moments = a->saved_moments};

    z->reducer = a->reducer;
    return ddp_shard_open(&z->shard, &of, err);
}

static void detach(void *self)
{
    struct zero1 *z = self;

    ddp_shard_close(z->shard);
    z->shard = NULL;
}

static ddp_sharded *moments(const void *self)
{
    const struct zero1 *z = self;

    return z->shard ? ddp_shard_moments(z->shard) : NULL;
}

/* ---- a step ---- */

static void optimize(void *self, const ddp_array_update *u)
{
    struct zero1 *z = self;
    size_t count;
    const ddp_sharded_range *parts = ddp_shard_ranges(z->shard, u->gradient, &count);

    if (!parts)
        u->apply(u, 0, u->count, NULL);
    for (size_t i = 0; i < count; i++)
        u->apply(u, parts[i].begin, parts[i].end, parts[i].moments);
}

static void publish(const void *shard, size_t bucket)
{
    ddp_shard_publish_bucket(shard, bucket);
}

static ddp_status end_updates(void *self, ddp_error *err)
{
    struct zero1 *z = self;

    return ddp_reducer_send_updated(z->reducer, publish, z->shard, err);
}

static void take(const void *shard, size_t param)
{
    ddp_shard_take_parameter(shard, param);
}

static ddp_status receive_layer(void *self, int layer, ddp_error *err)
{
    struct zero1 *z = self;

    return ddp_reducer_receive_updated(z->reducer, layer, take, z->shard, err);
}

/* ---- words ---- */

static void print_zero1(const void *self, FILE *out)
{
    const struct zero1 *z = self;
    ddp_shard_size size;

    if (!z) {
        (void)fprintf(out, "DDP: one rank has no one to share the optimizer's state with\n");
        return;
    }
    size = ddp_shard_bytes(z->shard);
    (void)fprintf(out, "DDP: optimizer's state is shared out: %.1f MB of %.1f MB on rank 0\n",
                  (double)size.own / 1e6, (double)size.all / 1e6);
}

static const ddp_update_plug update = {
    .optimize = optimize, .end_updates = end_updates, .receive_layer = receive_layer};

const ddp_algorithm ddp_algorithm_zero1 = {
    .example = "-ddp_shard_optimizer 1",
    .claims = {.controls = DDP_CONTROLS_SUM | DDP_CONTROLS_UPDATE | DDP_CONTROLS_ORDER,
               .breaks = DDP_GUARANTEE_DROP}, /* a rank knows of others' shares once they came */
    .order_subject = "what is shared out",
    .is_on = is_on,
    .open = open_zero1,
    .attach = attach,
    .detach = detach,
    .close = free,
    .sharded = 1,
    .update = &update,
    .moments = moments,
    .print = print_zero1,
};
