#include "trainer/trainer.h"

#include "base/clock.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "core/agree.h"
#include "core/batchnorm_check.h"
#include "core/buffers.h"
#include "core/equal_check.h"
#include "glue/fingerprint.h"
#include "glue/param_table.h"
#include "glue/train_position.h"
#include "glue/trainable.h"
#include "trainer/trainer_state.h"

#include <limits.h>
#include <network.h>

ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err)
{
    ddp_trainer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a trainer");
    t->group = group;
    t->config = *config;
    *out = t;
    return DDP_OK;
}

void ddp_trainer_close(ddp_trainer *t)
{
    if (!t)
        return;
    ddp_trainer_detach(t);
    ddp_trainer_close_algorithms(t);
    free(t);
}

void ddp_trainer_set_seed(ddp_trainer *t, uint64_t seed)
{
    t->config.seed = seed;
}

ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions, ddp_error *err)
{
    ddp_exact_run run = {.batch = *batch,
                         .subdivisions = *subdivisions,
                         .ranks = ddp_group_size(t->group),
                         .mode = t->config.batch_mode,
                         .sync_every = t->config.sync_every,
                         .broadcast_buffers = t->config.broadcast_buffers,
                         .names = t->config.reducer.names};
    ddp_status st = t->config.exact ? ddp_exact_check(&run, err) : DDP_OK;

    if (!st)
        st = ddp_batch_split(&t->batch, *batch, *subdivisions, run.ranks, t->config.batch_mode,
                             run.names, err);
    if (st)
        return st;
    t->split = run;
    *batch = t->batch.batch;
    *subdivisions = t->batch.subdivisions;
    return DDP_OK;
}

ddp_batch ddp_trainer_batch(const ddp_trainer *t)
{
    return t->batch;
}

void ddp_trainer_set_resumed(ddp_trainer *t, int root, const ddp_sharded_source *moments)
{
    t->resumed = 1;
    t->root = root;
    t->saved_moments = moments;
}

/* ---- attaching ---- */

/* Share the root's counters. Update happens when seen is a multiple of an update's
 * images, so a count in between would shift every update that follows. Where all batches are done
 * none follows. */
static ddp_status share_counters(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_train_position now;

    if (ddp_broadcast(t->group, net->seen, sizeof *net->seen, t->root, err))
        return ddp_wrap(err, "seen");
    if (ddp_broadcast(t->group, net->t, sizeof *net->t, t->root, err))
        return ddp_wrap(err, "t");
    if (ddp_broadcast(t->group, &net->average_loss, sizeof net->average_loss, t->root, err))
        return ddp_wrap(err, "average loss");
    now = ddp_train_position_of(net);
    if (now.last_step == 0 || now.step < now.last_step)
        *net->seen -= now.since_update;
    return DDP_OK;
}

/* Joined mini-batches are the same on all ranks. */
static ddp_batchnorm_stats_mode statistics_of(const ddp_trainer *t)
{
    if (t->config.exact)
        return DDP_STATISTICS_EXACT;
    return t->config.sync_bn || !t->config.broadcast_buffers ? DDP_STATISTICS_COPIED
                                                             : DDP_STATISTICS_SUMMED;
}

/* Give every rank what the root has. */
static ddp_status share_state(ddp_trainer *t, network *net, ddp_error *err)
{
    if (share_counters(t, net, err) || ddp_params_broadcast(t->group, &t->table, t->root, err)
        || (t->resumed
            && ddp_optimizer_broadcast(t->group, &t->table,
                                       ddp_algorithm_set_is_sharded(t->algorithms), t->root, err)))
        return err->code;
    return ddp_batchnorm_stats_open(&t->statistics, t->group, &t->table, statistics_of(t),
                                    t->batch.per_rank, t->root, err);
}

static ddp_status compare_ranks(ddp_trainer *t, network *net, ddp_error *err)
{
    char *text;
    ddp_status st = ddp_fingerprint(&text, net, &t->table, t->config.seed, err);

    if (!st)
        st = ddp_agree(t->group, text, err);
    free(text);
    return st;
}

static ddp_status open_reducer(ddp_trainer *t, ddp_error *err)
{
    ddp_plugs plugs = ddp_algorithm_set_plugs(t->algorithms);

    if (ddp_trainer_share_state(t, err))
        return err->code;
    t->config.reducer.codec = plugs.codec;
    t->config.reducer.codec_self = plugs.codec_self;
    return ddp_reducer_open(&t->reducer, t->group, &t->table, &t->config.reducer, err);
}

static ddp_status set_batch(ddp_trainer *t, network *net, ddp_error *err)
{
    int size = ddp_group_size(t->group);
    double images = (double)net->batch * net->subdivisions * t->config.sync_every;

    if (images > INT_MAX)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "an update of %.0f images is more than the %d that Darknet can count",
                        images, INT_MAX);
    if (t->config.batch_mode == DDP_BATCH_RANK) /* once: world is 1 before the first attachment */
        net->learning_rate *= (float)size / (float)net->world;
    net->rank = ddp_group_rank(t->group); /* Darknet's only place for both */
    net->world = size;
    net->accumulate = t->config.sync_every;
    t->batch.time_steps = net->time_steps;
    return DDP_OK;
}

static ddp_status check_values(const ddp_trainer *t, const network *net, ddp_error *err)
{
    int layer = ddp_find_layer_with_one_value(net);

    if (layer < 0 || (t->config.sync_bn && ddp_group_size(t->group) > 1))
        return DDP_OK;
    return ddp_batchnorm_refuse_one_value(&t->split, t->config.exact, layer,
                                          get_layer_string(net->layers[layer].type), err);
}

static void before_free(void *ctx, network *net)
{
    (void)net;
    ddp_trainer_detach(ctx);
}

ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_status st = check_values(t, net, err);

    if (!st)
        st = set_batch(t, net, err);
    if (!st)
        st = ddp_param_table_init(&t->table, net, ddp_trainer_device(t, net), err);
    if (st)
        return st;
    t->config.reducer.mini_batches = t->config.exact ? t->batch.per_rank : 0;
    t->deferred = calloc((size_t)net->n, 1);
    if (!t->deferred) {
        ddp_param_table_release(&t->table);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d layers", net->n);
    }
    t->net = net;
    st = ddp_trainer_prepare_algorithms(t, net, err);
    if (!st)
        st = compare_ranks(t, net, err);
    if (!st)
        st = share_state(t, net, err);
    if (!st)
        st = ddp_trainer_join_batch_norm(t, net, err);
    if (!st)
        st = open_reducer(t, err);
    if (!st)
        st =
            ddp_loss_open(&t->loss, t->group, t->config.reducer.mini_batches, t->config.asked, err);
    if (!st && t->config.verify_every > 0 && ddp_group_size(t->group) > 1
        && ddp_group_size(t->group) <= DDP_EQUAL_RANKS)
        st = ddp_replica_check_open(&t->replica_check, t->group, &t->table, t->statistics, err);
    if (!st)
        st = ddp_trainer_attach_algorithms(t, err);
    if (!st && t->config.bad_data)
        st = ddp_allreduce_open(&t->bad.sum, t->group, &t->bad.samples, 1, err);
    t->guard = ddp_nan_guard_open(&t->config.guard, t->group, &t->table, t->reducer, t->loss,
                                  t->statistics);
    t->waited_ns = 0;
    t->stalled_at_attach_ns = ddp_group_stalled_ns(t->group);
    if (st) {
        ddp_trainer_detach(t);
        return st;
    }
    t->resumed = 0;
    t->saved_moments = NULL;
    ddp_trainer_hook_network(t, net);
    t->hooks.release = before_free;
    return DDP_OK;
}

/* Finish what is on its way: other ranks count on this one's part. */
static void drain(ddp_trainer *t)
{
    ddp_error err;

    ddp_trainer_flush(t);
    ddp_trainer_finish_bad_samples(t);
    ddp_trainer_check(t, ddp_loss_finish(t->loss, &err), &err);
}

void ddp_trainer_detach(ddp_trainer *t)
{
    if (!t->net)
        return;
    if (t->net->hooks)
        drain(t);
    ddp_trainer_detach_algorithms(t);
    ddp_reducer_close(t->reducer);
    ddp_trainer_leave_state(t); /* once nothing waits for other ranks any more */
    ddp_batchnorm_stats_close(t->statistics);
    ddp_sync_batchnorm_close(t->sync_batchnorm);
    ddp_loss_close(t->loss);
    ddp_work_close(t->bad.sum);
    ddp_replica_check_close(t->replica_check);
    ddp_param_table_release(&t->table);
    free(t->deferred);
    t->deferred = NULL;
    t->reducer = NULL;
    t->statistics = NULL;
    t->sync_batchnorm = NULL;
    t->loss = NULL;
    t->bad.sum = NULL;
    t->replica_check = NULL;
    t->checksum_sent = 0;
    t->backlog_sent = 0;
    t->net->hooks = NULL;
    t->net->statistics = NULL;
    t->net = NULL;
}

double ddp_trainer_loss(const ddp_trainer *t)
{
    return (double)t->last_loss / ((double)t->batch.per_rank * t->batch.images);
}

size_t ddp_trainer_replaced_samples(const ddp_trainer *t)
{
    return ddp_loss_received_count(t->loss, DDP_COUNT_REPLACED);
}

ddp_requests ddp_trainer_requested(const ddp_trainer *t)
{
    return ddp_loss_requested(t->loss);
}

const ddp_trainer_config *ddp_trainer_settings(const ddp_trainer *t)
{
    return &t->config;
}

const network *ddp_trainer_network(const ddp_trainer *t)
{
    return t->net;
}

ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t)
{
    return t->reducer;
}

const ddp_param_table *ddp_trainer_table(const ddp_trainer *t)
{
    return &t->table;
}
